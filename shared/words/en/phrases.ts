/** Phrases that many messages share: money, lists of names, counts. */
import type { Money } from "../message.ts";

/** "14.50 EUR" */
export const money = ({ amount, currency }: Money): string => `${amount} ${currency}`;

/** "14.50 EUR and 3.00 USD", from totals by currency; a minus, as of refunds, is left to the sentence around it. */
export const totals = (byCurrency: Readonly<Record<string, string>>): string =>
  and(Object.entries(byCurrency).map(([currency, amount]) => money({ amount: amount.replace(/^-/, ""), currency })));

/**
 * "Rent, Power, Water and 2 more"
 * @param options.most how many are named; @param options.count how many there are, if `all` has only the first.
 */
export function names(all: readonly string[], { most = 3, count = all.length } = {}): string {
  return count > most ? `${all.slice(0, most).join(", ")} and ${count - most} more` : and(all);
}

/** "Rent", "Rent and Power", "Rent, Power and Water" */
export const and = (all: readonly string[]): string =>
  all.length < 2 ? all.join("") : `${all.slice(0, -1).join(", ")} and ${all.at(-1)}`;

/** A field of the contract in a sentence: "trial ends on". */
export const fieldName = (field: string): string => field.replaceAll("_", " ");

export const quoted = (text: string): string => `"${text}"`;

/** "1 expense", "2 expenses" */
export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number} ${number === 1 ? one : many}`;

/**
 * "22 November 2026" from YYYY-MM-DD; other parts if given.
 * @param parts what to show of it.
 */
export const date = (
  day: string,
  parts: Intl.DateTimeFormatOptions = { day: "numeric", month: "long", year: "numeric" },
): string => new Intl.DateTimeFormat("en-GB", { ...parts, timeZone: "UTC" }).format(new Date(`${day}T00:00:00Z`));

/** "8%" */
export const percent = (number: number): string => `${number}%`;

/** "+8.0%" */
export const signedPercent = (number: number): string => `${number < 0 ? "−" : "+"}${Math.abs(number).toFixed(1)}%`;
