/** One day's rates as published by a source. */

export interface RateSet {
  source: SourceName;
  /** The day they apply to, YYYY-MM-DD, as the source states it: the last working day, rarely today. */
  publishedOn: string;
  /** What one euro buys, by currency code, as a decimal string in the source's own digits. */
  perEuro: Readonly<Record<string, string>>;
}

export type SourceName = "ecb" | "frankfurter";

/** A source's response is not a valid set of rates. */
export class MalformedRates extends Error {
  override readonly name = "MalformedRates";
}

const CODE = /^[A-Z]{3}$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DECIMAL = /^\d{1,9}(\.\d{1,10})?$/;

/** @throws {MalformedRates} when a part is malformed; plausibility is checked elsewhere. */
export function rateSet(source: SourceName, publishedOn: unknown, entries: readonly [unknown, unknown][]): RateSet {
  if (typeof publishedOn !== "string" || !DAY.test(publishedOn) || Number.isNaN(Date.parse(publishedOn))) {
    throw new MalformedRates("the set has no date");
  }
  const perEuro: Record<string, string> = {};
  for (const [code, rate] of entries) {
    if (typeof code !== "string" || !CODE.test(code)) throw new MalformedRates("a currency has no code");
    if (typeof rate !== "string" || !DECIMAL.test(rate)) throw new MalformedRates(`${code} has no decimal rate`);
    perEuro[code] = rate;
  }
  return { source, publishedOn, perEuro };
}
