/** Words of `reconcile`. */
import type { Money } from "../message.ts";
import { and, count, type KnownBalance, knownBalances, money, totals as sums } from "./phrases.ts";

export const warnings = {
  "balance_of_day": ({ day, known }: { day: string; known: KnownBalance[] }): string => knownBalances(known, day),
  "balance_of_day_unknown": ({ day, known }: { day: string; known: KnownBalance[] }): string =>
    `No balance of ${day} is known. ${knownBalances(known, day)}`,
  /** @param difference between each balance and the sum of the previous one and the lines between them. */
  "balance_gap": (
    { account, balances }: { account: string; balances: (Money & { on: string; difference: string })[] },
  ): string =>
    `The balance of ${account} differs from its earlier balance and the statement lines between: ${
      and(balances.map(({ on, currency, amount, difference }) =>
        `${money({ amount, currency })} on ${on} is off by ${money({ amount: difference, currency })}`
      ))
    }. A statement may be missing.`,
  "account_unknown": (
    { account, count: payments, totals, difference }: {
      account: string;
      count: number;
      totals: Record<string, string>;
      difference: Record<string, string>;
    },
  ): string =>
    `${count(payments, "record")} in books_only, ${sums(totals)}, ${
      payments === 1 ? "is" : "are"
    } in no statement. The books do not know which account paid, so this includes cash, other accounts and other ` +
    `members’ cards. Without books_only, the difference to ${account} is ${sums(difference)}.`,
  "income_in_bank_only": (
    { count: rows, totals }: { count: number; totals: Record<string, string> },
  ): string =>
    `${count(rows, "row")} of bank_only, ${sums(totals)}, ${rows === 1 ? "is" : "are"} income that the books lack. ` +
    "Totals and difference compare only spending.",
  "lines_partly_known": ({ account }: { account: string }): string =>
    `Rows of ${account} that this person may not see are not compared: totals and difference exclude them.`,
  /** @param period.first the first day with a row of the account, if there is one */
  "no_statement": (
    { account, first, last, is_own_only }: { account: string; first?: string; last?: string; is_own_only: boolean },
  ): string =>
    first
      ? `The imported statements of ${account} have rows from ${first} to ${last} only. Outside of these days nothing ` +
        "was compared: rows of books_only there may be at the bank too."
      : `No statement of ${account} is ${is_own_only ? "among this person's own imports" : "in the books"}, ` +
        "so nothing was compared. Import one first (import_expenses).",
};
