/** The lines that an import omits, by kind. */
import { count } from "./phrases.ts";

type LeftOut = (n: number, shown?: string) => string;
/** @param shown the number in the reader's locale */
const lines = (one: string, rest = "", many?: string): LeftOut => (n, shown) => `${count(n, one, many, shown)}${rest}`;
const that = (are: string): LeftOut => (n, shown = `${n}`) => `${shown} ${are}`;

export const leftOut = {
  pending: that("pending"),
  reverted: that("reversed"),
  declined: that("declined"),
  own_transfer: lines("transfer", " between your own accounts"),
  savings: lines("transfer", " to or from savings"),
  exchange: lines("currency exchange"),
  top_up: lines("account top-up"),
  card_payment: lines("credit card bill payment"),
  other_half: lines("transfer", " to or from another of your accounts"),
  balance: lines("balance or correction", "", "balances or corrections"),
  split: lines("total", " of rows that are listed separately"),
  income: lines("incoming payment", " (recorded as income, not as spending)"),
};
