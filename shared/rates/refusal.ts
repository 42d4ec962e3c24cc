/** Which sets of rates are not believed: better yesterday's rates than wrong ones. */
import type { RateSet } from "./rate_set.ts";

export type Refusal = "not_positive" | "missing_currency" | "too_few" | "in_the_future" | "jump";

/** What is kept already, by currency code: the newest of each. */
export type StoredRates = Readonly<Record<string, string>>;

const ALWAYS_PUBLISHED = ["USD", "GBP", "JPY"];
/** The central bank publishes about 30. */
const FEWEST = 20;
const LARGEST_MOVE = 0.2;
/** Two sources round and date a little differently. */
const SAME_WITHIN = 0.02;

/** Why a set is refused as it stands, or null. `jump` may be taken back: {@link isConfirmed}. */
export function refusalOf(set: RateSet, { stored, today }: { stored: StoredRates; today: string }): Refusal | null {
  const rates = Object.values(set.perEuro);
  if (rates.some((rate) => !(Number(rate) > 0))) return "not_positive";
  if (ALWAYS_PUBLISHED.some((code) => !(code in set.perEuro))) return "missing_currency";
  if (rates.length < FEWEST) return "too_few";
  if (set.publishedOn > today) return "in_the_future";
  return jumps(set, stored).length > 0 ? "jump" : null;
}

/** Whether another source says the same of every currency that moved too far to be believed from one. */
export function isConfirmed(set: RateSet, { stored, by }: { stored: StoredRates; by: RateSet }): boolean {
  return jumps(set, stored).every((code) => {
    const other = by.perEuro[code];
    return other !== undefined && moveOf(set.perEuro[code]!, other) <= SAME_WITHIN;
  });
}

function jumps(set: RateSet, stored: StoredRates): string[] {
  return Object.keys(set.perEuro).filter((code) => {
    const before = stored[code];
    return before !== undefined && moveOf(set.perEuro[code]!, before) > LARGEST_MOVE;
  });
}

// Numbers are good enough to judge by; what is stored are the digits themselves.
const moveOf = (rate: string, before: string) => Math.abs(Number(rate) / Number(before) - 1);
