/** The shop's charge in its own currency, in files that name the account's currency. */
import { type DecimalSign, readCurrency, readMoney, toDecimal } from "./money_text.ts";

/** @param options.charged the currency of the account @returns null for a row in the account's own currency */
export function readOriginal(
  cells: { amount: string; currency: string },
  { charged, decimal }: { charged: string; decimal: DecimalSign },
): { amount: string; currency: string } | null {
  const money = readMoney(cells.amount);
  const amount = money && toDecimal(money.digits, decimal);
  const currency = readCurrency(cells.currency) ?? money?.currency;
  return amount && Number(amount) !== 0 && currency && currency !== charged ? { amount, currency } : null;
}
