/** Words of `import_expenses`. */
import type { Money, Progress, Refusal } from "../message.ts";
import { and, count, money, names, percent, quoted } from "./phrases.ts";

const STEPS = "Pass csv, or nothing to get an upload link; then import_id, and to commit preview.commit_with.";
const pass = (message: string): Refusal => ({ message, hint: STEPS });
const columnsHint = (columns: string[]) => `Say in mapping which column it is. The columns: ${columns.join(", ")}.`;
/** The first lines of a file that cannot be read. */
const shown = (begins: string[] = []) =>
  begins.length === 0 ? "" : ` It begins: ${begins.map((line) => quoted(line)).join(", ")}.`;

export const refusals = {
  "invalid_argument.no_row_readable": (
    { details }: { details: { rows_bad: { line: number; reason: string }[] } },
  ): Refusal => ({
    message: `No row of this file can be imported. Line ${details.rows_bad[0]!.line}: ${details.rows_bad[0]!.reason}`,
    hint: "Check details.mapping; say in mapping which column is which.",
  }),
  "invalid_argument.csv_or_import_id": (): Refusal => pass("These arguments need csv or import_id."),
  "invalid_argument.csv_and_import_id": (): Refusal => pass("Only one of csv and import_id can be given."),
  "invalid_argument.needed_to_commit": ({ name }: { name: string }): Refusal => ({
    message: `${name} is required to commit.`,
    hint: "Show the preview to the user, then pass preview.commit_with; import_id alone shows it again.",
  }),
  "invalid_argument.nothing_to_import": (): Refusal => ({
    message: "This file contains no spending.",
    hint: 'details.left_out lists its lines by kind. Log income among them with log_expenses and kind "income".',
  }),
  "invalid_argument.file_of_bills": ({ count: bills }: { count: number }): Refusal => ({
    message: `This file lists ${count(bills, "subscription")}, not payments.`,
    hint: "Show the user details.bills, then call add_bill with each of those to keep.",
  }),
  "invalid_argument.file_kind": ({ kind }: { kind: string }): Refusal => ({
    message: `Files of this kind (${kind}) cannot be read.`,
    hint: "CSV, TSV, XLSX, OFX, QFX, QIF, MT940 and camt.052, 053 or 054 are read; XLSX is uploaded, not passed in a " +
      "call. Most banks offer at least one of these.",
  }),
  "invalid_argument.file_packed": ({ kind }: { kind: string }): Refusal => ({
    message: `This is an archive (${kind}), which can't be unpacked here.`,
    hint: "Unpack it and send the statement that is in it.",
  }),
  "invalid_argument.file_too_large": ({ most_mb }: { most_mb: number }): Refusal => ({
    message: `The file is larger than ${most_mb} MB.`,
    hint: "Ask the bank for a shorter period, or split the file.",
  }),
  "invalid_argument.file_unpacks_too_large": ({ most_mb }: { most_mb: number }): Refusal => ({
    message: `The workbook is larger than ${most_mb} MB when it is unpacked.`,
    hint: "Save the sheet with the statement as CSV and send that.",
  }),
  "invalid_argument.file_broken": ({ format, begins }: { format: string; begins?: string[] }): Refusal => ({
    message: `This ${format} file is damaged, or has parts that are not accepted, such as a document type.${
      shown(begins)
    }`,
    hint: "Pass the file as the bank gave it, or its CSV.",
  }),
  "needs_answer.import": ({ details }: { details: { questions: { message: string }[] } }): Refusal => ({
    message: `A question about the file is open: ${details.questions[0]?.message ?? "see details.questions"}`,
    hint: "Ask the user. Then call with the answers by question id in answers, and commit the new preview.",
  }),
  "invalid_argument.file_empty": (): Refusal => ({
    message: "The file has no rows.",
    hint: "Pass the text of the file as it is, header line included.",
  }),
  "invalid_argument.file_without_rows": ({ begins }: { begins?: string[] }): Refusal => ({
    message: `No payments were found: rows with a date, an amount and a name were expected.${shown(begins)}`,
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
    { column, columns, candidates, begins }: {
      begins?: string[];
      column: "date" | "amount" | "name";
      columns: string[];
      candidates: { header: string; samples: string[] }[];
    },
  ): Refusal => ({
    message: candidates.length === 0
      ? `No column of the file looks like ${column === "name" ? "a name" : `the ${column}`}: a header line was ` +
        `expected, and rows with a date, an amount and a name.${shown(begins)}`
      : `Which column is the ${column}: ${
        candidates.map(({ header, samples }) => `"${header}" (${samples.join(", ")})`).join(", ")
      }, or none of these? Neither its header nor a balance says so.`,
    hint: candidates.length === 0
      ? columnsHint(columns)
      : `Ask the user, then call with import_id, the column in mapping.${column}, and account, the name of the bank ` +
        "account, for which the answer is remembered.",
  }),
  // Why a row cannot be read.
  "invalid_argument.row_too_wide": (
    { cells, columns, delimiter }: { cells: number; columns: number; delimiter: string },
  ): Refusal => ({
    message: `There are ${cells} cells under ${columns} columns; text containing a ${delimiter} needs quotation marks.`,
  }),
  "invalid_argument.row_without_date": (): Refusal => ({ message: "There is no date." }),
  "invalid_argument.row_without_amount": (): Refusal => ({ message: "There is no amount." }),
  "invalid_argument.row_date": ({ value, format }: { value: string; format: string }): Refusal => ({
    message: `${quoted(value)} is not a date in the format ${format}.`,
  }),
  "invalid_argument.row_amount": ({ value, decimal }: { value: string; decimal: "." | "," }): Refusal => ({
    message: `${quoted(value)} is not an amount with a decimal ${decimal === "." ? "point" : "comma"}.`,
  }),
  "invalid_argument.row_amount_zero": (): Refusal => ({ message: "The amount is zero." }),
  "invalid_argument.row_broken": ({ value }: { value: string }): Refusal => ({
    message: `${quoted(value)} has no date or amount.`,
  }),
  "invalid_argument.row_state": ({ value }: { value: string }): Refusal => ({
    message: `${quoted(value)} does not say whether the payment was made.`,
  }),
  "invalid_argument.row_direction": ({ value }: { value: string }): Refusal => ({
    message: `${quoted(value)} does not say whether money went out or came in.`,
  }),
  "invalid_argument.row_of_other_table": (): Refusal => ({
    message: "It belongs to a second table with other columns. Import that table as a separate file.",
  }),
  "invalid_argument.row_both_sides": ({ out, in: into }: { out: string; in: string }): Refusal => ({
    message: `Money went out (${out}) and came in (${into}) in one row.`,
  }),
  "not_found.import": (): Refusal => ({
    message: "There is no such import, or it has expired: links after 30 minutes, files after 24 hours.",
    hint: "Call without arguments to get a new upload link, or with csv.",
  }),
  "not_found.import_file": ({ expires_at }: { expires_at: string }): Refusal => ({
    message: "Nothing has been uploaded for this import yet.",
    hint: `The upload link works until ${expires_at}. Call again once the user has used it.`,
  }),
  "not_found.import_undone": (): Refusal => ({
    message: "This import was undone, and its file is gone.",
    hint: "Call without arguments to get a new upload link, or with csv.",
  }),
  "not_found.account": ({ id }: { id: string }): Refusal => ({
    message: `There is no account ${quoted(id)}.`,
    hint: "Pass the account's name; a new name creates an account.",
  }),
  "not_found.statement_account": (
    { name, names, is_own_only: own }: { name?: string; names: string[]; is_own_only?: true },
  ): Refusal => ({
    message: (names[0] && !name ? "No account is given." : `There is no account${name ? ` ${quoted(name)}` : ""}.`) +
      (own ? " This person sees only their own records and imports." : ""),
    hint: names.length > 0
      ? `There ${names.length === 1 ? "is" : "are"} ${and(names)}.`
      : "An account is created when its first statement is imported: import_expenses without arguments gives a link for that.",
  }),
  "invalid_argument.matched_twice": ({ lines }: { lines: number[] }): Refusal => ({
    message: `Lines ${and(lines.map(String))} cannot be the same expense.`,
    hint: 'Answer "new" for all but one of them.',
  }),
  "invalid_argument.too_many_accounts": ({ most }: { most: number }): Refusal => ({
    message: `There are ${most} accounts already, the maximum.`,
    hint: "Pass the name of one of them as account.",
  }),
  "invalid_argument.upload_used": (): Refusal => ({
    message: "A file has already been uploaded for this import.",
    hint: "Each link takes one file. Call import_expenses without arguments to get a new link.",
  }),
  "invalid_argument.no_such_question": ({ id }: { id: string }): Refusal => ({
    message: `${quoted(id)} is not a question of this import.`,
    hint: "Answer by the ids in preview.questions.",
  }),
  "invalid_argument.no_such_answer": ({ id, options }: { id: string; options: unknown[] }): Refusal => ({
    message: `${quoted(id)} can be answered with ${options.map((option) => JSON.stringify(option)).join(", ")}.`,
  }),
  "invalid_argument.no_such_line": ({ line }: { line: number }): Refusal => ({
    message: `Line ${line} of the file is not a row of this import.`,
    hint: "Use the line numbers of the preview.",
  }),
  "category_not_found.in_file": ({ name }: { name: string }): Refusal => ({
    message: `There is no category called ${quoted(name)}.`,
    hint: "Ask the user. create_missing_categories true creates the missing ones; otherwise correct the rows with " +
      "corrections.",
  }),
  "expectation_mismatch.of_import": (
    { count: written, totals, skipped }: { count: number; totals: Record<string, string>; skipped: number },
  ): Refusal => ({
    message: `This would write ${count(written, "expense")}, ${
      and(Object.entries(totals).map(([currency, amount]) => money({ amount, currency }))) || "worth nothing"
    }, and skip ${skipped} that ${skipped === 1 ? "is" : "are"} already in the books. Nothing was written.`,
    hint: "Show the user these numbers; when they agree, call again with details.commit_with.",
  }),
  "expectation_mismatch.books_changed": (): Refusal => ({
    message: "Somebody recorded one of these expenses while they were being imported. Nothing was written.",
    hint: "Call with import_id alone for a new preview.",
  }),
};

export const importing = {
  onlyShown: (hasQuestions: boolean): string =>
    `This is a preview. ${
      hasQuestions ? "Answer its questions first, then send" : "Send"
    } commit_with as it is to write.`,
  underWay: "Still reading the file. Call again with the same import_id to continue.",
};

/** Assumptions that the file does not prove. */
export const assumptions = {
  balance_differs: ({ difference, currency }: { difference: string; currency?: string }): string =>
    `The balances in the file moved by ${
      currency ? money({ amount: difference, currency }) : difference
    } more than its rows say: rows are missing from it, or were misread. Compare it with the bank.`,
  links_left_out: ({ count: cells, column }: { count: number; column: string }): string =>
    `${count(cells, "cell")} of ${quoted(column)} left out: not a link, or longer than 2000 characters.`,
  fees_left_out: ({ count: cells, column }: { count: number; column: string }): string =>
    `${count(cells, "cell")} of ${quoted(column)} left out: nothing shows whether the amounts contain them. Ask the ` +
    "user; fees charged on top are separate expenses.",
  remembered: ({ remembered }: { remembered: Record<string, string | boolean> }): string =>
    `As confirmed for this account and header line before: ${
      and(Object.entries(remembered).map(([field, value]) => `${field} ${JSON.stringify(value)}`))
    }. update_settings with forget_layouts forgets it.`,
  currency_assumed: ({ currency }: { currency: string }): string =>
    `The file names no currency; ${currency} was assumed. Ask the user if that is right; if not, import the file ` +
    "again with default_currency.",
  no_header: (): string => "The file has no header line; the columns were identified by their contents.",
  column_by_cells: ({ header, field }: { header: string; field: string }): string =>
    `${quoted(header)} was identified as the ${field} by its contents.`,
  several_currencies: ({ headers }: { headers: string[] }): string =>
    `Several columns contain currencies (${
      and(headers.map(quoted))
    }), so none was used for the amount. Set mapping.currency.`,
};

export const warnings = {
  "encoding": (): string =>
    "Some letters of the file were lost to a wrong encoding and show as \ufffd. " +
    "Save it as UTF-8 and import that, or correct the names later.",
  "sheets_left_out": ({ sheet, others }: { sheet: string; others: string[] }): string =>
    `Only the sheet ${quoted(sheet)} was read; ${names(others.map(quoted))} ${
      others.length === 1 ? "looks" : "look"
    } like statements too. Send each as a separate file.`,
  "recurring_charges": ({ count: all, names: first }: { count: number; names: string[] }): string =>
    `${count(all, "charge")} ${all === 1 ? "recurs" : "recur"} regularly, and no bill covers ${
      all === 1 ? "it" : "them"
    }: ${
      names(first, { count: all })
    }. review_bills shows the dates and amounts; ask the person which to add as bills.`,
  "layout_forgotten": (): string =>
    "No account is named, so the next file will raise the same questions. Call with account, the " +
    "name of the bank account or app, and the answers are remembered for it.",
  "category_not_found": ({ names: unknown }: { names: string[] }): string =>
    `The file uses categories that do not exist yet: ${names(unknown.map(quoted))}. Ask whether to create them ` +
    "(create_missing_categories true) or which ones to use instead (corrections).",
};

/** A record that an import writes besides its new expenses. */
export interface Effect extends Money {
  name: string;
  /** The earlier amount of an estimate. */
  was?: string;
}
type Amount = (amount: string, currency: string) => string;
const plain: Amount = (amount, currency) => money({ amount, currency });

const named = ({ name, amount, currency }: Effect, write = plain): string => `${name} ${write(amount, currency)}`;
/** The effects of a commit on the books besides new expenses: "Broadcasting fee 55.08 EUR". */
export const effects = {
  pays: named,
  corrects: ({ name, was, amount, currency }: Effect, write = plain): string =>
    `${name} ${write(was!, currency)} to ${write(amount, currency)}`,
  removes: named,
};

type Effects = { count: number; first: Effect[] };
const summed = ({ count, first }: Effects, write: (effect: Effect) => string): string =>
  names(first.map((one) => write(one)), { count });

/** Summaries in the list of recent changes. */
export const changes = {
  import_expenses: (
    { count: written, names: first, pays, corrects, removes, incomes }: {
      count: number;
      names: string[];
      pays?: Effects;
      corrects?: Effects;
      removes?: Effects;
      incomes?: number | null;
    },
  ): string =>
    [
      `Imported ${count(written, "expense")}${written > 0 ? `: ${names(first, { count: written })}` : ""}`,
      ...incomes ? [count(incomes, "income")] : [],
      ...pays ? [`paid ${count(pays.count, "bill")}: ${summed(pays, effects.pays)}`] : [],
      ...corrects ? [`corrected ${count(corrects.count, "estimate")}: ${summed(corrects, effects.corrects)}`] : [],
      ...removes ? [`removed ${count(removes.count, "transfer")}: ${summed(removes, effects.removes)}`] : [],
    ].join("; "),
  unsubscribe: ({ name }: { name: string }): string => `Turned off reminders for ${name}`,
};

export const progress = {
  import_expenses: ({ progress, total }: Progress): string =>
    `${percent(Math.floor(100 * progress / total))} of the file done.`,
};
