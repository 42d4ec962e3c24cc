/**
 * Turns a CSV file into rows for `import_expenses`, with every assumption made and the reason for each row that cannot
 * be read. Currencies, date limits and duplicates are checked by the database.
 */
import type { Facts, RefusalFacts, Said } from "../words/message.ts";
import type { RefusalCode } from "../words/words.ts";
import { type DateOrder, readDate, toIsoDate } from "./date_text.ts";
import { currencyInHeader, findColumns, MAX_HEADER_ROW } from "./find_columns.ts";
import { findDateOrder, findDecimalSign, findSign } from "./find_conventions.ts";
import type { Field } from "./header_words.ts";
import { type DecimalSign, readCurrency, readMoney, toDecimal } from "./money_text.ts";
import { readCsv } from "./read_csv.ts";
import { readUrl } from "./url_text.ts";

export const MAX_ROWS = 2000;
/** The widest known exports have about fifty. */
export const MAX_COLUMNS = 200;

/** The tool's `mapping` argument: column names and conventions. */
export type Mapping = Partial<Record<Field, string>> & {
  date_format?: "YYYY-MM-DD" | "DD/MM/YYYY" | "MM/DD/YYYY" | "DD.MM.YYYY";
  decimal?: DecimalSign;
  negative_is_expense?: boolean;
};

/** A row as an item of log_expenses, and its line. */
export interface ImportRow {
  line: number;
  date: string;
  amount: string;
  name: string;
  currency?: string;
  payee?: string;
  category?: string;
  note?: string;
  url?: string;
  is_refund?: true;
}

export interface ReadImport {
  rows: ImportRow[];
  rows_bad: { line: number; error: RefusalFacts }[];
  /**
   * How the file was read: column names, delimiter, conventions. `ignored` lists unused columns; `assumed` is what
   * nothing in the file proves, as `Said`.
   */
  mapping: Record<string, unknown>;
}

/** Why the file could not be read, as an error of the argument that would fix it. */
export interface ImportProblem extends RefusalFacts {
  code: RefusalCode & `invalid_argument.${string}`;
  field: string;
}

const FORMATS: Record<DateOrder, string> = { YMD: "YYYY-MM-DD", DMY: "DD/MM/YYYY", MDY: "MM/DD/YYYY" };
const ORDERS: Record<NonNullable<Mapping["date_format"]>, DateOrder> = {
  "YYYY-MM-DD": "YMD",
  "DD/MM/YYYY": "DMY",
  "DD.MM.YYYY": "DMY",
  "MM/DD/YYYY": "MDY",
};
/** Values that `list_expenses` writes into this column. */
const KINDS = new Set(["one_off", "bill_payment", "refund"]);
const DELIMITERS: Record<string, string> = { "\t": "tab" };

export function readImport(csv: string, mapping: Mapping = {}): ReadImport | ImportProblem {
  const { rows: all, delimiter, stoppedAt } = readCsv(csv, {
    maxRows: MAX_HEADER_ROW + MAX_ROWS,
    maxCells: MAX_COLUMNS,
  });
  if (all.length === 0) {
    return { code: "invalid_argument.file_empty", field: "csv" };
  }
  if (stoppedAt === "cells") {
    const params = { line: all.at(-1)!.line, most: MAX_COLUMNS };
    return { code: "invalid_argument.too_many_columns", params, field: "csv" };
  }
  const found = findColumns(all, mapping);
  if ("missing" in found) {
    const params = { name: mapping[found.missing], columns: columnNames(found.headers) };
    return { code: "invalid_argument.no_such_column", params, field: `mapping.${found.missing}` };
  }
  const { headers, columns, rows, headerLine } = found;
  if (stoppedAt === "rows" || rows.length > MAX_ROWS) {
    return { code: "invalid_argument.file_too_long", params: { most: MAX_ROWS }, field: "csv" };
  }
  if (rows.length === 0) return { code: "invalid_argument.file_without_rows", field: "csv" };
  for (const field of ["date", "amount"] as const) {
    if (columns[field] === undefined) {
      return unclear(field, headers);
    }
  }
  const nameColumn = columns.name ?? columns.payee;
  if (nameColumn === undefined) {
    return unclear("name", headers);
  }

  const cell = (cells: string[], column: number | undefined) =>
    column === undefined ? "" : unescapeFormula(cells[column] ?? "");
  const read = rows.map(({ line, cells }) => ({
    line,
    cells,
    date: readDate(cell(cells, columns.date)),
    money: readMoney(cell(cells, columns.amount)),
  }));
  const dates = read.flatMap(({ date }) => date ?? []);
  const amounts = read.flatMap(({ money }) => money ?? []);
  const order = mapping.date_format ? { value: ORDERS[mapping.date_format] } : findDateOrder(dates);
  const decimal = mapping.decimal ? { value: mapping.decimal } : findDecimalSign(amounts);
  // Our own export marks refunds in a column; there a minus always means a refund.
  const kindColumn = headers.findIndex((header) => header === "kind");
  const isOurs = kindColumn >= 0 && rows.every(({ cells }) => KINDS.has(cells[kindColumn] ?? ""));
  const sign = mapping.negative_is_expense !== undefined
    ? { value: mapping.negative_is_expense }
    : isOurs
    ? { value: false }
    : findSign(amounts);
  const headerCurrency = currencyInHeader(headers[columns.amount!]!);

  const isDotted = dates.length > 0 && read.some(({ cells }) => /^\d{1,2}\./.test(cell(cells, columns.date)));
  const dateFormat = mapping.date_format ?? (order.value === "DMY" && isDotted ? "DD.MM.YYYY" : FORMATS[order.value]);

  const good: ImportRow[] = [];
  const bad: ReadImport["rows_bad"] = [];
  let brokenLinks = 0;
  for (const { line, cells, date, money } of read) {
    const dateCell = cell(cells, columns.date);
    const amountCell = cell(cells, columns.amount);
    const isoDate = date && toIsoDate(date, order.value);
    const amount = money && toDecimal(money.digits, decimal.value);
    const label = oneLine(cell(cells, columns.name) || cell(cells, columns.payee));
    const refuse = (code: RefusalCode, params?: Facts) =>
      bad.push({ line, error: { code, ...(params && { params }) } });
    // An unquoted comma in a number or a name shifts every cell after it.
    if (headerLine && cells.slice(headers.length).some(Boolean)) {
      refuse("invalid_argument.row_too_wide", {
        cells: cells.length,
        columns: headers.length,
        delimiter: DELIMITERS[delimiter] ?? delimiter,
      });
    } else if (!dateCell) refuse("invalid_argument.row_without_date");
    else if (!isoDate) refuse("invalid_argument.row_date", { value: shorten(dateCell, 40), format: dateFormat });
    else if (!amountCell) refuse("invalid_argument.row_without_amount");
    else if (!amount) {
      refuse("invalid_argument.row_amount", { value: shorten(amountCell, 40), decimal: decimal.value });
    } else if (/^0(\.0*)?$/.test(amount)) refuse("invalid_argument.row_amount_zero");
    else if (!label) refuse("invalid_argument.row_without_name");
    else if (sign.value && !money.isNegative) {
      refuse("invalid_argument.row_money_in", { value: shorten(amountCell, 40) });
    } else {
      const currencyCell = cell(cells, columns.currency);
      const currency = (currencyCell && (readCurrency(currencyCell) ?? currencyCell.slice(0, 10))) || money.currency ||
        headerCurrency;
      const urlCell = cell(cells, columns.url).trim();
      const url = readUrl(urlCell);
      if (urlCell && !url) brokenLinks++;
      const note = cell(cells, columns.note) || (label.length > 120 ? label : "");
      good.push({
        line,
        date: isoDate,
        amount,
        name: shorten(label, 120),
        ...(currency && { currency }),
        ...optional("payee", shorten(oneLine(cell(cells, columns.payee)), 120)),
        ...optional("category", shorten(oneLine(cell(cells, columns.category)), 60)),
        ...optional("note", shorten(note, 2000)),
        ...(url && { url }),
        ...((!sign.value && money.isNegative || cells[kindColumn] === "refund") && { is_refund: true as const }),
      });
    }
  }
  const named = Object.fromEntries(Object.entries(columns).map(([field, column]) => [field, headers[column]]));
  const used = [...Object.values(columns), kindColumn];
  const ignored = headers.filter((_, column) => !used.includes(column)).map((header) => shorten(header, 40));
  const assumed: Said[] = [
    ...found.assumed,
    ...[order, decimal, sign].flatMap((said) => "assumed" in said && said.assumed ? said.assumed : []),
  ];
  // Import the expense without its broken link.
  if (brokenLinks > 0) {
    assumed.push({
      code: "links_left_out",
      params: { count: brokenLinks, column: shorten(headers[columns.url!]!, 40) },
    });
  }
  return {
    rows: good,
    rows_bad: bad,
    mapping: {
      ...named,
      ignored: ignored.slice(0, MAX_NAMED),
      ...(headerLine && { header_line: headerLine }),
      delimiter: DELIMITERS[delimiter] ?? delimiter,
      date_format: dateFormat,
      decimal: decimal.value,
      negative_is_expense: sign.value,
      assumed,
    },
  };
}

const unclear = (field: "date" | "amount" | "name", headers: string[]): ImportProblem => ({
  code: "invalid_argument.column_unclear",
  params: { column: field, columns: columnNames(headers) },
  field: `mapping.${field}`,
});
/** How many columns an answer lists. */
const MAX_NAMED = 30;
const columnNames = (headers: string[]) => headers.slice(0, MAX_NAMED).map((header) => shorten(header, 40));
const shorten = (text: string, length: number) =>
  text.length > length ? `${text.slice(0, length - 1).toWellFormed()}…` : text;
const oneLine = (text: string) => text.replace(/\s+/g, " ").trim();
const optional = <Key extends string>(key: Key, value: string) => value ? { [key]: value } as Record<Key, string> : {};

/** Spreadsheets and our own export put an apostrophe before text that would run as a formula. */
const unescapeFormula = (text: string) => text.replace(/^'(?=[=+@\t\r\n＝＋－＠-])/, "");
