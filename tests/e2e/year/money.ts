/** Amounts in whole minor units and their values at published rates: the test's own arithmetic. */
import { plus, weekdayOf } from "./days.ts";

const DECIMALS: Record<string, number> = { JPY: 0, KWD: 3 };
export const decimalsOf = (currency: string): number => DECIMALS[currency] ?? 2;

/** `145050` in euros is `1450.50`. */
export function say(minor: number, currency: string): string {
  const decimals = decimalsOf(currency);
  const digits = String(Math.abs(minor)).padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  return `${minor < 0 ? "-" : ""}${whole}${decimals > 0 ? `.${digits.slice(-decimals)}` : ""}`;
}

/** The price of one euro on the first day, in ten-thousandths. The European Central Bank publishes no AED or KWD. */
const FIRST: Record<string, number> = { USD: 11_612, GBP: 8_653, CHF: 9_301, JPY: 1_823_400, AED: 42_645, KWD: 3_571 };
const CENTRAL_BANK = new Set(["USD", "GBP", "CHF", "JPY"]);

/** The newest working day up to a day: rates appear on working days. */
export function publishedOn(day: string): string {
  const weekday = weekdayOf(day);
  return weekday === 0 ? plus(day, -2) : weekday === 6 ? plus(day, -1) : day;
}

/** In ten-thousandths. Swings by two percent in either direction, with a small offset every day. */
function published(currency: string, day: string): number {
  const number = Date.parse(day) / 86_400_000;
  const first = FIRST[currency]!;
  return first + Math.round(first * 0.02 * Math.sin(number / 29)) + (number * 7 + currency.charCodeAt(0)) % 13;
}

const rate = (currency: string, day: string): number =>
  currency === "EUR" ? 10_000 : published(currency, CENTRAL_BANK.has(currency) ? publishedOn(day) : day);

/** The rates of a day in the sources' format. */
export const ratesOf = (day: string): Record<string, string> =>
  Object.fromEntries(Object.keys(FIRST).map((currency) => [currency, (rate(currency, day) / 10_000).toFixed(4)]));

/** The value of an amount in another currency on a day, rounded half up to a whole minor unit. */
export function worth(minor: number, { from, to, on }: { from: string; to: string; on: string }): number {
  if (from === to) return minor;
  const numerator = BigInt(minor) * BigInt(rate(to, on)) * 10n ** BigInt(decimalsOf(to));
  const denominator = BigInt(rate(from, on)) * 10n ** BigInt(decimalsOf(from));
  return Number((2n * numerator + denominator) / (2n * denominator));
}
