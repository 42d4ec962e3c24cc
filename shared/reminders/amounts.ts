/** Compares amounts of one currency. */
import type { Difference } from "../words/message.ts";
import type { Wording } from "./wording.ts";

/** The exact difference of two decimal strings: "1.00", "-0.50". */
export function difference(amount: string, earlier: string): string {
  const decimals = amount.split(".")[1]?.length ?? 0;
  const minor = BigInt(amount.replace(".", "")) - BigInt(earlier.replace(".", ""));
  const digits = (minor < 0n ? -minor : minor).toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  return `${minor < 0n ? "-" : ""}${whole}${decimals > 0 ? "." : ""}${digits.slice(digits.length - decimals)}`;
}

/** A difference as a percentage of `whole`, rounded, without its sign. */
export const percentOf = (change: string, whole: string): number =>
  Math.round(Math.abs(Number(change) / Number(whole)) * 100);

/** A difference in words, with its percentage of `of`. */
export function differenceOf(change: string, { of, format }: { of: string; format: Wording["format"] }): Difference {
  const percent = percentOf(change, of);
  return { isLess: change.startsWith("-"), ...(percent > 0 && { share: format.percent(percent) }) };
}
