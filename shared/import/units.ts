/** Exact sums: amounts in ten-thousandths, since no currency has more decimals. */
import { type DecimalSign, type MoneyText, toDecimal } from "./money_text.ts";

const SCALE = 4;

/** @param amount a plain decimal; digits after the fourth decimal are cut off */
export function toUnits(amount: string): bigint {
  const [whole = "0", fraction = ""] = amount.split(".");
  return BigInt(whole + fraction.slice(0, SCALE).padEnd(SCALE, "0"));
}

/** @param least the minimum number of decimals, including zeros */
export function fromUnits(units: bigint, least = 0): string {
  const sign = units < 0n ? "-" : "";
  const digits = String(units < 0n ? -units : units).padStart(SCALE + 1, "0");
  const fraction = digits.slice(-SCALE).replace(/0+$/, "").padEnd(least, "0");
  return sign + digits.slice(0, -SCALE) + (fraction && `.${fraction}`);
}

export function decimalsOf(currency: string): number {
  if (!/^[A-Z]{3}$/.test(currency)) return 2;
  return new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits ?? 2;
}

/** The value of an amount as written, by its sign; undefined when it is unreadable. */
export function unitsOf({ digits, isNegative }: MoneyText, decimal: DecimalSign): bigint | undefined {
  const plain = toDecimal(digits, decimal);
  if (plain === undefined) return undefined;
  return isNegative ? -toUnits(plain) : toUnits(plain);
}
