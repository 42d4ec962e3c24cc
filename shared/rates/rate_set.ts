/** One day's rates as published by a source. */
import { isDay } from "../iso_day.ts";

export interface RateSet {
  source: SourceName;
  /** The day to which the rates apply, YYYY-MM-DD, according to the source: the last working day, rarely today. */
  publishedOn: string;
  /** The amount of each currency that one euro buys, as a decimal string in the source's own digits. */
  perEuro: Readonly<Record<string, string>>;
  /** The days of single rates, if the source has several; otherwise all have the day `publishedOn`. */
  days?: Readonly<Record<string, string>>;
}

/** `central_banks` has all currencies in use, the other two the thirty of the European Central Bank. */
export type SourceName = "ecb" | "frankfurter" | "central_banks";

/** A source's response is not a valid set of rates. */
export class MalformedRates extends Error {
  override readonly name = "MalformedRates";
}

const CODE = /^[A-Z]{3}$/;
const DECIMAL = /^\d{1,9}(\.\d{1,10})?$/;

/** A rate as plain digits, without scientific notation. */
export const isRate = (rate: unknown): rate is string => typeof rate === "string" && DECIMAL.test(rate);

/** @throws {MalformedRates} when a part is malformed; another module checks plausibility. */
export function rateSet(source: SourceName, publishedOn: unknown, entries: readonly [unknown, unknown][]): RateSet {
  if (!isDay(publishedOn)) throw new MalformedRates("the set has no date");
  const perEuro: Record<string, string> = {};
  for (const [code, rate] of entries) {
    if (typeof code !== "string" || !CODE.test(code)) throw new MalformedRates("a currency has no code");
    if (!isRate(rate)) throw new MalformedRates(`${code} has no decimal rate`);
    perEuro[code] = rate;
  }
  return { source, publishedOn, perEuro };
}
