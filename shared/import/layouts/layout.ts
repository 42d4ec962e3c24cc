/** How an export of a bank or program is described: by its header line, in data. */
import type { DateOrder } from "../date_text.ts";
import type { Role } from "../header_words.ts";
import type { DecimalSign } from "../money_text.ts";
import type { Kind } from "../statement.ts";

export interface Layout {
  /** The bank or program, and which of its exports. */
  name: string;
  /**
   * The header's columns by role, plain as by `plainHeader`. Several of one role, in order of preference, are separated
   * by "|": the first that is not empty counts. "wahrung#2" is the second column of that name. All that are not marked
   * with "?" must be in the header.
   */
  columns: Partial<Record<Role, string>>;
  /** Further columns that the header must have, separated by "|". */
  also?: string;
  dates?: DateOrder;
  decimal?: DecimalSign;
  /** Of files that do not name it. */
  currency?: string;
  /** Which sign money spent has; not needed with columns for out and in, or for the direction. */
  spends?: "negative" | "positive";
  /** In columns that say the direction, a minus is the opposite rather than repeated. */
  isMinusOpposite?: true;
  isCard?: true;
  /** A program's list rather than an account's statement. */
  isList?: true;
  /** Money that comes into a category in which money is also spent is a refund. */
  hasSpendingCategories?: true;
  /** Values of the state column with a meaning of their own in this layout, plain, separated by "|". */
  states?: Partial<Record<Kind, string>>;
  /** Values of the type column, plain, separated by "|". */
  types?: Partial<Record<Kind, string>>;
  /** Values of the category column that tell lines apart, likewise. */
  categories?: Partial<Record<Kind, string>>;
  /** Beginnings of the name or payee, plain, likewise. */
  texts?: Partial<Record<Kind, string>>;
  /** Why it cannot be imported. */
  refused?: "bills";
}

/** A file without a header line: the roles of its columns. */
export interface BareLayout extends Omit<Layout, "columns" | "also"> {
  /** Patterns that the cells of the first rows fit, by column; as many as there are columns. */
  cells: RegExp[];
  /** Positions from 0. */
  places: Partial<Record<Role, number>>;
}
