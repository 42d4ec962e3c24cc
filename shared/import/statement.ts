/**
 * The result of every format's reader. Readers return the file's values as text. Only `settle_lines.ts` determines the
 * conventions of the whole file (date order, decimal sign, direction).
 */
import type { RefusalFacts, Said } from "../words/message.ts";
import type { Assumption, RefusalCode } from "../words/words.ts";
import type { DateOrder } from "./date_text.ts";
import type { DecimalSign } from "./money_text.ts";

/** Why a line isn't spending. */
export const LEFT_OUT = [
  "pending",
  "reverted",
  "declined",
  "own_transfer",
  "savings",
  "exchange",
  "top_up",
  "card_payment",
  "balance",
  "split",
  "income",
] as const;
export type LeftOut = typeof LEFT_OUT[number];

/** A line's facts besides its amount. */
export type Kind = LeftOut | "refund" | "expense";
export const isLeftOut = (kind: Kind | undefined): kind is LeftOut =>
  (LEFT_OUT as readonly (Kind | undefined)[]).includes(kind);

export type Direction = "in" | "out";

/** One line, with cells as written. */
export interface RawLine {
  line: number;
  date: string;
  amount: string;
  name: string;
  /** From a column or a code; absent when only the amount's sign shows it. */
  direction?: Direction;
  kind?: Kind;
  currency?: string;
  payee?: string;
  /** The sender of incoming money, from a separate column; the payee is then the account's owner. */
  payer?: string;
  /** The other account's number. */
  counter_account?: string;
  note?: string;
  category?: string;
  url?: string;
  /** The bank's word for the kind of line. */
  type?: string;
  /** Charged in addition to the amount. */
  fee?: string;
  /** The tax that the amount contains. */
  tax?: string;
  /** The shop's charge in its own currency, beside the account's charge. */
  original?: { amount: string; currency: string };
  /** The account's balance after this line. */
  balance?: string;
  /** The line's account, if a column names it. */
  account?: string;
  /** Whether that account is a card's, in a file of accounts and cards. */
  isCard?: boolean;
  /** A problem with the line, found by its format's reader. */
  problem?: RefusalFacts;
}

/** The conventions of a format or a known export; absent if unknown. */
export interface Conventions {
  dates?: DateOrder;
  decimal?: DecimalSign;
  /** The sign of spending. */
  spends?: "negative" | "positive";
  /** A credit card's account: incoming money is a refund or the card's payment. */
  isCard?: boolean;
  /** An unknown export that names a credit card's account; a bank account can have cards too. */
  isCreditCard?: boolean;
  /** A known export, or a format with rules, that marks every refund among its incoming money. */
  isKnown?: boolean;
  /** Incoming money in a category that also has spending is a refund. */
  hasSpendingCategories?: boolean;
  /** A reversal is a separate line beside the reversed one. */
  booksReversals?: boolean;
  /** The header belongs to a bank account, on which spending is negative. */
  isAccount?: boolean;
  /** Only the payees suggest a statement, so it may be a list of payments. */
  isListOfPayees?: boolean;
  /** An account's statement rather than a list of expenses: it may contain incoming money. */
  isStatement?: boolean;
}

/** The account or card of a file. */
export interface Account {
  /** As written, masked or not. */
  number?: string;
  /** The name by which a person recognizes it: the bank's or the file's, with the last digits of its number. */
  name?: string;
  kind: "account" | "card";
  currency?: string;
}

/** An account's balances before and after some of the file's lines, with a minus for debt. */
export interface BalanceText {
  opening?: string;
  closing?: string;
  /** The day of the closing balance: the year, month and day, perhaps a time. */
  closing_on?: string;
  currency?: string;
  /** Its lines as a half-open range of positions in the file. */
  from: number;
  to: number;
}

/** The result of a format's reader for a file. */
export interface Statement {
  lines: RawLine[];
  account?: Account;
  /** The account's owner. */
  owner?: string;
  balances?: BalanceText[];
  conventions: Conventions;
  /** The currency of lines without one. */
  currency?: string;
  /** Possible currencies of lines without one, by the format or its language. */
  suggests?: string[];
  /** The description of the reading in the answer: format or layout, columns. */
  mapping: Record<string, unknown>;
  /** The normalized header line of a table, which identifies the next file of the bank. */
  header?: string;
  assumed?: (Said & { code: Assumption })[];
}

/** Why the file is unreadable, as an error of the argument that would fix it. */
export interface ImportProblem extends RefusalFacts {
  code: RefusalCode & (`invalid_argument.${string}` | `needs_answer.${string}`);
  field: string;
  /** The key under which answers are remembered, if an answer would make the file readable. */
  asks?: { header: string; account?: Account };
}

/** The limit for a file in a call. */
export const MAX_ROWS = 2000;
/** The limit for an uploaded file. */
export const MAX_UPLOADED_ROWS = 50_000;
export const tooLong = (most: number): ImportProblem => ({
  code: "invalid_argument.file_too_long",
  params: { most },
  field: "csv",
});

/** All texts of a line. */
export const textOf = ({ name, payee = "", note = "", type = "" }: RawLine): string =>
  [name, payee, type, note].join(" / ");
