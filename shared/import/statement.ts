/**
 * The result of every format's reader. A reader returns the file's values as text; `settle_lines.ts` alone settles the
 * whole file's conventions (date order, decimal sign, direction).
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
  /** Said by a column or a code; absent when only the amount's sign says it. */
  direction?: Direction;
  kind?: Kind;
  currency?: string;
  payee?: string;
  /** Of money that came in, where a column of its own says it; the payee then is the account's owner. */
  payer?: string;
  /** The other account's number. */
  counter_account?: string;
  note?: string;
  category?: string;
  url?: string;
  /** The bank's word for the kind of line. */
  type?: string;
  /** Charged on top of the amount. */
  fee?: string;
  /** The tax that the amount contains. */
  tax?: string;
  /** The shop's charge in its own currency, beside the account's charge. */
  original?: { amount: string; currency: string };
  /** The account's balance after this line. */
  balance?: string;
  /** Which of the file's accounts it is of, where a column says so. */
  account?: string;
  /** Whether that account is a card's, in a file of accounts and cards. */
  isCard?: boolean;
  /** A problem of the line that its format saw. */
  problem?: RefusalFacts;
}

/** How a format or a known export writes; absent where it does not say. */
export interface Conventions {
  dates?: DateOrder;
  decimal?: DecimalSign;
  /** Which sign money spent has. */
  spends?: "negative" | "positive";
  /** The account of a credit card: what comes in is a refund or the card's payment. */
  isCard?: boolean;
  /** An unknown export that calls itself a credit card's; other accounts have cards, too. */
  isCreditCard?: boolean;
  /** A known export or a format with rules, whose incoming money is no refund unless it says so. */
  isKnown?: boolean;
  /** Money that comes into a category in which money is also spent is a refund. */
  hasSpendingCategories?: boolean;
  /** A reversal is a line of its own, beside the reversed one. */
  booksReversals?: boolean;
  /** Its header is a bank account's, on which spending is negative. */
  isAccount?: boolean;
  /** Only its payees suggest a statement, so it may be a list of payments. */
  isListOfPayees?: boolean;
  /** An account's statement rather than a list of expenses: it may hold money that came in. */
  isStatement?: boolean;
}

/** The account or card that a file is of. */
export interface Account {
  /** As written, masked or not. */
  number?: string;
  /** The name by which a person recognizes it: the bank's or the file's, with the end of its number. */
  name?: string;
  kind: "account" | "card";
  currency?: string;
}

/** An account's balances before and after some of the file's lines, with a minus for debt. */
export interface BalanceText {
  opening?: string;
  closing?: string;
  currency?: string;
  /** Its lines, by their places in the file: from the first up to, but without, the last. */
  from: number;
  to: number;
}

/** A file as its format's reader returns it. */
export interface Statement {
  lines: RawLine[];
  account?: Account;
  /** Whose account it is. */
  owner?: string;
  balances?: BalanceText[];
  conventions: Conventions;
  /** Currency of lines that name none. */
  currency?: string;
  /** What lines that name none may be in, by the format or its language. */
  suggests?: string[];
  /** The answer's account of the reading: format or layout, columns. */
  mapping: Record<string, unknown>;
  /** The header line of a table, plain, by which the next file of the bank is known. */
  header?: string;
  assumed?: (Said & { code: Assumption })[];
}

/** Why the file could not be read, as an error of the argument that would fix it. */
export interface ImportProblem extends RefusalFacts {
  code: RefusalCode & (`invalid_argument.${string}` | `needs_answer.${string}`);
  field: string;
  /** Of a file that an answer makes readable: what answers are remembered for. */
  asks?: { header: string; account?: Account };
}

/** Of a file that is passed in a call. */
export const MAX_ROWS = 2000;
/** Of a file that is uploaded. */
export const MAX_UPLOADED_ROWS = 50_000;
export const tooLong = (most: number): ImportProblem => ({
  code: "invalid_argument.file_too_long",
  params: { most },
  field: "csv",
});

/** All texts of a line. */
export const textOf = ({ name, payee = "", note = "", type = "" }: RawLine): string =>
  [name, payee, type, note].join(" / ");
