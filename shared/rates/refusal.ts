/** Plausibility checks of exchange rates: better yesterday's rates than wrong ones. */
import type { RateSet } from "./rate_set.ts";

export type Refusal = "not_positive" | "missing_currency" | "too_few" | "in_the_future" | "jump";

/** The newest stored rate of each currency. */
export type StoredRates = Readonly<Record<string, string>>;

const ALWAYS_PUBLISHED = ["USD", "GBP", "JPY"];
/** The central bank publishes about 30. */
const MIN_CURRENCIES = 20;
const LARGEST_MOVE = 0.2;
/** Two sources round and date slightly differently. */
const CONFIRMATION_TOLERANCE = 0.02;

/** Why a set is refused, or null. A `jump` can be confirmed by another source: {@link isConfirmed}. */
export function refusalOf(set: RateSet, { stored, today }: { stored: StoredRates; today: string }): Refusal | null {
  const rates = Object.values(set.perEuro);
  if (rates.some((rate) => !(Number(rate) > 0))) return "not_positive";
  if (ALWAYS_PUBLISHED.some((code) => !(code in set.perEuro))) return "missing_currency";
  if (rates.length < MIN_CURRENCIES) return "too_few";
  if (set.publishedOn > today) return "in_the_future";
  return jumps(set, stored).length > 0 ? "jump" : null;
}

/** Whether another source agrees on every currency that moved too far for one source to be trusted. */
export function isConfirmed(set: RateSet, { stored, by }: { stored: StoredRates; by: RateSet }): boolean {
  return jumps(set, stored).every((code) => {
    const other = by.perEuro[code];
    return other !== undefined && moveOf(set.perEuro[code]!, other) <= CONFIRMATION_TOLERANCE;
  });
}

function jumps(set: RateSet, stored: StoredRates): string[] {
  return Object.keys(set.perEuro).filter((code) => {
    const before = stored[code];
    return before !== undefined && moveOf(set.perEuro[code]!, before) > LARGEST_MOVE;
  });
}

// Floats are good enough for this comparison; the original digits are stored.
const moveOf = (rate: string, before: string) => Math.abs(Number(rate) / Number(before) - 1);
