/** Words of `import_expenses`. */
import type { Refusal } from "../message.ts";
import { and, count, money, names, quoted } from "./phrases.ts";

const STEPS = "Pass csv first; then import_id, expected_count and expected_totals from the preview, without csv.";
const columnsHint = (columns: string[]) => `Say in mapping which column it is. The columns: ${columns.join(", ")}.`;

export const refusals = {
  "invalid_argument.no_row_readable": (
    { details }: { details: { rows_bad: { line: number; reason: string }[] } },
  ): Refusal => ({
    message: `No row of this file can be imported. Line ${details.rows_bad[0]!.line}: ${details.rows_bad[0]!.reason}`,
    hint: "Check details.mapping; say in mapping which column is which.",
  }),
  "invalid_argument.csv_or_import_id": (): Refusal => ({
    message: "Either csv or import_id is needed.",
    hint: STEPS,
  }),
  "invalid_argument.csv_and_import_id": (): Refusal => ({
    message: "Only one of csv and import_id can be given.",
    hint: STEPS,
  }),
  "invalid_argument.needed_to_commit": ({ name }: { name: string }): Refusal => ({
    message: `${name} is required with import_id.`,
    hint: "Show the preview to the user, then pass preview.commit_with.",
  }),
  "invalid_argument.file_empty": (): Refusal => ({
    message: "The file has no rows.",
    hint: "Pass the text of the file as it is, header line included.",
  }),
  "invalid_argument.file_without_rows": (): Refusal => ({
    message: "The file has a header line but no rows.",
    hint: "Pass the whole file.",
  }),
  "invalid_argument.file_too_long": ({ most }: { most: number }): Refusal => ({
    message: `The file has more than ${most} rows, the maximum for an import.`,
    hint: "Split the file, with the header line in each part.",
  }),
  "invalid_argument.too_many_columns": ({ line, most }: { line: number; most: number }): Refusal => ({
    message: `Line ${line} has more than ${most} cells, the maximum for an import.`,
    hint: "Remove columns that are not needed.",
  }),
  "invalid_argument.no_such_column": ({ name, columns }: { name: string; columns: string[] }): Refusal => ({
    message: `There is no column ${quoted(name)}.`,
    hint: columnsHint(columns),
  }),
  "invalid_argument.column_unclear": (
    { column, columns }: { column: "date" | "amount" | "name"; columns: string[] },
  ): Refusal => ({
    message: column === "name"
      ? "No column of the file says what the money was for."
      : `No column of the file is clearly the ${column}.`,
    hint: columnsHint(columns),
  }),
  // Why a row cannot be read.
  "invalid_argument.row_too_wide": (
    { cells, columns, delimiter }: { cells: number; columns: number; delimiter: string },
  ): Refusal => ({
    message: `There are ${cells} cells under ${columns} columns; text containing a ${delimiter} needs quotation marks.`,
  }),
  "invalid_argument.row_without_date": (): Refusal => ({ message: "There is no date." }),
  "invalid_argument.row_without_amount": (): Refusal => ({ message: "There is no amount." }),
  "invalid_argument.row_without_name": (): Refusal => ({ message: "There is no name." }),
  "invalid_argument.row_date": ({ value, format }: { value: string; format: string }): Refusal => ({
    message: `${quoted(value)} is not a date in the format ${format}.`,
  }),
  "invalid_argument.row_amount": ({ value, decimal }: { value: string; decimal: "." | "," }): Refusal => ({
    message: `${quoted(value)} is not an amount with a decimal ${decimal === "." ? "point" : "comma"}.`,
  }),
  "invalid_argument.row_amount_zero": (): Refusal => ({ message: "The amount is zero." }),
  "invalid_argument.row_money_in": ({ value }: { value: string }): Refusal => ({
    message: `${quoted(value)} is incoming money. If it is a refund, log it with log_expenses and is_refund true.`,
  }),
  "not_found.import": (): Refusal => ({
    message: "There is no such import, or its preview is more than 24 hours old.",
    hint: "Call with csv again to get a new preview.",
  }),
  "category_not_found.in_file": ({ name }: { name: string }): Refusal => ({
    message: `There is no category called ${quoted(name)}.`,
    hint:
      "Ask the user. create_missing_categories true creates the missing ones; otherwise correct the category column " +
      "and call with csv again.",
  }),
  "expectation_mismatch.of_import": (
    { count: written, totals, skipped }: { count: number; totals: Record<string, string>; skipped: number },
  ): Refusal => ({
    message: `This would write ${count(written, "expense")}, ${
      and(Object.entries(totals).map(([currency, amount]) => money({ amount, currency }))) || "worth nothing"
    }, and skip ${skipped} that ${skipped === 1 ? "is" : "are"} already in the books. Nothing was written.`,
    hint: "Show the user these numbers; when they agree, call again with details.commit_with.",
  }),
};

/** Assumptions that nothing in the file proves. */
export const assumptions = {
  links_left_out: ({ count: cells, column }: { count: number; column: string }): string =>
    `${count(cells, "cell")} of ${quoted(column)} left out: not a link, or longer than 2000 characters.`,
  no_header: (): string => "The file has no header line; the columns were identified by their contents.",
  column_by_cells: ({ header, field }: { header: string; field: string }): string =>
    `${quoted(header)} was taken for the ${field} because of its contents.`,
  several_currencies: ({ headers }: { headers: string[] }): string =>
    `${and(headers.map(quoted))} all contain currencies, so none was used for the amount. Set mapping.currency.`,
  date_order: ({ order, is_sorted }: { order: "DMY" | "MDY"; is_sorted?: true }): string =>
    `Every date can be read with the day or the month first; ${order === "DMY" ? "day" : "month"} first was assumed${
      is_sorted ? ", because only that puts the rows in order" : ""
    }. Set mapping.date_format if that is wrong.`,
  thousands: ({ digits }: { digits: string }): string =>
    `${quoted(digits)} was read as thousands, not as three decimals. Set mapping.decimal if that is wrong.`,
  negative_is_expense: (): string =>
    "Negative amounts are expenses; positive ones are incoming money, which is left out. " +
    "Set mapping.negative_is_expense to false if that is wrong.",
  negative_is_refund: (): string =>
    "Positive amounts are expenses, and negative ones are refunds. " +
    "Set mapping.negative_is_expense to true if that is wrong.",
};

export const warnings = {
  "encoding": (): string =>
    "Some letters of the file were lost to a wrong encoding and show as \ufffd. " +
    "Save it as UTF-8 and import that, or correct the names later.",
  "may_be_bill_payment": (
    { count: rows, rows: first }: { count: number; rows: { line: number; bill: string }[] },
  ): string => {
    const listed = first.map(({ line, bill }) => `line ${line}, ${bill}`);
    const more = rows - listed.length;
    return `${rows === 1 ? "One row" : `${rows} rows`} may be the payment of one of your bills ` +
      `(see preview.may_be_bills), and would then count twice: ${listed.join("; ")}${
        more > 0 ? ` and ${more} more` : ""
      }. Ask the user which do, remove those rows from csv and call again. To pay a bill that is still open, use ` +
      "mark_bill_paid.";
  },
  "category_not_found": ({ names: unknown }: { names: string[] }): string =>
    `The file uses categories that do not exist yet: ${names(unknown.map(quoted))}. Ask whether to create them ` +
    "(create_missing_categories true) or to correct the file.",
};

/** Summaries in the list of recent changes. */
export const changes = {
  import_expenses: ({ count: written, names: first }: { count: number; names: string[] }): string =>
    `Imported ${count(written, "expense")}: ${names(first, { count: written })}`,
  unsubscribe: ({ name }: { name: string }): string => `Turned off the reminders of ${name}`,
};
