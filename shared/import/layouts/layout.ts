/** The description of a bank's or program's export: its header line, as data. */
import type { DateOrder } from "../date_text.ts";
import type { Role } from "../header_words.ts";
import type { DecimalSign } from "../money_text.ts";
import type { Kind } from "../statement.ts";

export interface Layout {
  /** The bank or program, and the name of its export. */
  name: string;
  /**
   * The header's columns by role, normalized by `plainHeader`. Several columns of one role are separated by "|" in
   * order of preference, and the first non-empty one counts. "wahrung#2" is the second column of that name. Columns
   * without "?" must be in the header.
   */
  columns: Partial<Record<Role, string>>;
  /** Other columns that the header must have, separated by "|". */
  also?: string;
  dates?: DateOrder;
  decimal?: DecimalSign;
  /** For files that do not name it. */
  currency?: string;
  /** The sign of spending; not needed with columns for out and in, or for the direction. */
  spends?: "negative" | "positive";
  /** With a direction column, a minus means the opposite instead of repeating the direction. */
  isMinusOpposite?: true;
  isCard?: true;
  /** A program's list rather than an account's statement. */
  isList?: true;
  /** Incoming money in a category that also has spending is a refund. */
  hasSpendingCategories?: true;
  /** Values of the state column with a special meaning in this layout, plain, separated by "|". */
  states?: Partial<Record<Kind, string>>;
  /** Values of the type column, plain, separated by "|". */
  types?: Partial<Record<Kind, string>>;
  /** Values of the category column that determine a line's kind, in the same form. */
  categories?: Partial<Record<Kind, string>>;
  /** Beginnings of the name or payee that determine a line's kind, in the same form. */
  texts?: Partial<Record<Kind, string>>;
  /** The reason why this export cannot be imported. */
  refused?: "bills";
}

/** A file without a header line: the roles of its columns. */
export interface BareLayout extends Omit<Layout, "columns" | "also"> {
  /** Patterns for the cells of the first rows, by column; one for each column. */
  cells: RegExp[];
  /** Positions from 0. */
  places: Partial<Record<Role, number>>;
}
