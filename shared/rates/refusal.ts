/** Plausibility checks of exchange rates, because yesterday's rates are better than wrong ones. */
import * as z from "zod/mini";
import type { RateSet, SourceName } from "./rate_set.ts";

export type Refusal =
  | "not_positive"
  | "missing_currency"
  | "too_few"
  | "in_the_future"
  | "jump"
  | "too_old"
  | "disagrees";

/** The newest stored rate of each currency. */
export const StoredRates = z.record(z.string(), z.string());
export type StoredRates = z.infer<typeof StoredRates>;

const ALWAYS_PUBLISHED = ["USD", "GBP", "JPY"];
/** The European Central Bank publishes about 30, all central banks together about 165. */
const MIN_CURRENCIES: Record<SourceName, number> = { ecb: 20, frankfurter: 20, central_banks: 120 };
const LARGEST_MOVE = 0.2;
/** Two sources may round and date slightly differently. */
const CONFIRMATION_TOLERANCE = 0.02;
/** An average of many banks may come from another hour than the central bank's rate. */
const BLEND_TOLERANCE = 0.05;
/** The maximum age of a used rate (`app.rates_as_of`). */
const MAX_AGE_DAYS = 7;

/** Why a set is refused, or null. Another source can confirm a `jump`: {@link isConfirmed}. */
export function refusalOf(set: RateSet, { stored, today }: { stored: StoredRates; today: string }): Refusal | null {
  const rates = Object.values(set.perEuro);
  if (rates.some((rate) => !(Number(rate) > 0))) return "not_positive";
  if (ALWAYS_PUBLISHED.some((code) => !(code in set.perEuro))) return "missing_currency";
  if (rates.length < MIN_CURRENCIES[set.source]) return "too_few";
  if (set.publishedOn > today) return "in_the_future";
  return jumps(set, stored).length > 0 ? "jump" : null;
}

/**
 * Why a source's rates for a day are refused, or null.
 * @param stored the known rates of that day: few or none before its first request.
 */
export function refusalOfDay(set: RateSet, { stored, day }: { stored: StoredRates; day: string }): Refusal | null {
  if (Date.parse(day) - Date.parse(set.publishedOn) > MAX_AGE_DAYS * 86_400_000) return "too_old";
  const refusal = refusalOf(set, { stored, today: day });
  if (set.source !== "central_banks" || (refusal && refusal !== "jump")) return refusal;
  const isApart = (code: string) =>
    stored[code] !== undefined && moveOf(set.perEuro[code]!, stored[code]) > BLEND_TOLERANCE;
  return ALWAYS_PUBLISHED.some(isApart) ? "disagrees" : null;
}

/** The set without the rates that moved too far to trust one source, and their codes. */
export function withoutJumps(set: RateSet, stored: StoredRates): { set: RateSet; left_out: string[] } {
  const left_out = jumps(set, stored);
  const perEuro = Object.fromEntries(Object.entries(set.perEuro).filter(([code]) => !left_out.includes(code)));
  return { set: { ...set, perEuro }, left_out };
}

/** Whether another source agrees on every currency that moved too far to trust one source. */
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

// Floats suffice for this comparison; the database stores the original digits.
const moveOf = (rate: string, before: string) => Math.abs(Number(rate) / Number(before) - 1);
