/**
 * Phrases that many messages share: money, lists of names, counts. Models read the texts of tools, so figures have the
 * same form as the data in every locale: days as YYYY-MM-DD, months as YYYY-MM, and amounts with a decimal point, a
 * hyphen for a minus and no thousands separators.
 */
import { DATA_FORMAT } from "../effect_format.ts";
import type { Money } from "../message.ts";

/** "14.50 EUR" */
export const money = ({ amount, currency }: Money): string => `${amount} ${currency}`;

/**
 * "14.50 EUR and 3.00 USD", from totals by currency. Omits minus signs, because the surrounding sentence names
 * refunds.
 */
export const totals = (byCurrency: Readonly<Record<string, string>>, write = DATA_FORMAT.money): string =>
  and(Object.entries(byCurrency).map(([currency, amount]) => write(amount.replace(/^-/, ""), currency)));

/**
 * "Rent, Power, Water and 2 more"; a repeated name appears once: "Costco (2)".
 * @param options.most the number of names
 * @param options.count the total, if `all` has only the first
 */
export function names(all: readonly string[], { most = 3, count = all.length } = {}): string {
  const times = new Map<string, number>();
  for (const name of all) times.set(name, (times.get(name) ?? 0) + 1);
  const first = [...times].slice(0, most);
  const said = first.map(([name, number]) => number > 1 ? `${name} (${number})` : name);
  const more = count - first.reduce((sum, [, number]) => sum + number, 0);
  return more > 0 ? `${said.join(", ")} and ${more} more` : and(said);
}

/** "Rent", "Rent and Power", "Rent, Power and Water" */
export const and = (all: readonly string[]): string =>
  all.length < 2 ? all.join("") : `${all.slice(0, -1).join(", ")} and ${all.at(-1)}`;

/** "EUR, CHF or CAD" */
export const or = (all: readonly string[]): string =>
  all.length < 2 ? all.join("") : `${all.slice(0, -1).join(", ")} or ${all.at(-1)}`;

/** Balances that cause no mail about the limit. Without an account, the sum of all. */
export interface Unwatched {
  already_below?: (Money & { account?: string })[];
  no_rate?: { account?: string; currency: string }[];
}

const ALL_ACCOUNTS = "all accounts together";

/** "Below the limit already: Giro (200.00 EUR)." */
export const unwatchedBalances = ({ already_below: low, no_rate: unknown }: Unwatched): string[] => [
  ...(low
    ? [`Below the limit already: ${and(low.map((one) => `${one.account ?? ALL_ACCOUNTS} (${money(one)})`))}.`]
    : []),
  ...(unknown
    ? [
      `Not compared with the limit, because no exchange rate is known: ${
        and(unknown.map(({ account, currency }) => `${account ?? ALL_ACCOUNTS} (${currency})`))
      }.`,
    ]
    : []),
];

/** Members whose role permits the refused action: the owner first. */
export interface WhoCan {
  who?: string[];
}

/** "Ask anna@example.com to do it." */
export const ask = ({ who }: WhoCan): string => who?.length ? `Ask ${who.join(" or ")} to do it.` : "Ask the owner.";

export const quoted = (text: string): string => `"${text}"`;

export const LOG_INCOME = 'Log income, such as a salary, with log_expenses and kind "income".';

export const PRIVATE_CATEGORY =
  'Only a category can be private: create one with update_settings (category action "create"), hide it with action ' +
  '"make_private", and give it as category here.';

/** "1 expense", "2 expenses" @param shown the number in the reader's locale */
export const count = (number: number, one: string, many = `${one}s`, shown = `${number}`): string =>
  `${shown} ${number === 1 ? one : many}`;

/** "8%" */
export const percent = (number: number): string => `${number}%`;

/** "+8.0%" */
export const signedPercent = (number: number): string => `${number < 0 ? "-" : "+"}${Math.abs(number).toFixed(1)}%`;

/** The balances before and after a day, each with its own day. */
export interface KnownBalance {
  account: string;
  currency: string;
  before?: [on: string, amount: string];
  after?: [on: string, amount: string];
  /** The balance of the day, if the statement lines between both add up. */
  computed?: string;
}

/** "Giro: 10.00 EUR on 2026-10-01, 20.00 EUR on 2026-10-31; nothing between them is known." */
export const knownBalances = (known: readonly KnownBalance[], day: string): string =>
  known.map(({ account, currency, before, after, computed }) => {
    if (computed) return `${account}: ${money({ amount: computed, currency })} on ${day}, by the statements’ rows.`;
    const told = [before, after].flatMap((one) => one ? [`${money({ amount: one[1], currency })} on ${one[0]}`] : []);
    const place = before && after ? "between them" : before ? "after it" : "before it";
    return `${account}: ${before?.[0] === day ? told[0] : `${told.join(", ")}; nothing ${place} is known`}.`;
  }).join(" ");
