/** Maps columns to fields: by the caller's mapping, by the words of the header, by the contents of the cells. */
import type { Said } from "../words/message.ts";
import type { Assumption } from "../words/words.ts";
import type { CsvRow } from "./read_csv.ts";
import { readDate } from "./date_text.ts";
import { type Field, FIELDS, isSameHeader, plainHeader, rankOf } from "./header_words.ts";
import { isKnownCurrency, readCurrency, readMoney } from "./money_text.ts";
import { readUrl } from "./url_text.ts";

export type Columns = Partial<Record<Field, number>>;

export interface FoundColumns {
  /** The header as written; "Column 1" … when there is none. */
  headers: string[];
  /** Line of the header; undefined without one. */
  headerLine?: number;
  columns: Columns;
  /** Rows below the header. */
  rows: CsvRow[];
  assumed: (Said & { code: Assumption })[];
}

/** A column that the caller named but the file does not have. */
export interface MissingColumn {
  missing: Field;
  headers: string[];
}

/** Exports may start with lines about the account; the header is searched for down to this row. */
export const MAX_HEADER_ROW = 25;

/** What cells of these fields look like; other fields hold any text. */
const CELL_TESTS: Partial<Record<Field, (cell: string) => unknown>> = {
  date: readDate,
  amount: readMoney,
  currency: readCurrency,
  url: readUrl,
};

/** The most distinctive fields choose first. */
const ORDER: Field[] = ["date", "amount", "currency", "category", "payee", "name", "note", "url"];

export function findColumns(all: CsvRow[], mapping: Partial<Record<Field, string>>): FoundColumns | MissingColumn {
  const named = FIELDS.map((field) => mapping[field]).filter((name): name is string => !!name).map(plainHeader);
  const score = ({ cells }: CsvRow) => {
    const plain = cells.map(plainHeader);
    return FIELDS.filter((field) => plain.some((cell) => rankOf(field, cell) !== undefined)).length +
      plain.filter((cell) => named.some((name) => isSameHeader(cell, name))).length;
  };
  const scores = all.slice(0, MAX_HEADER_ROW).map(score);
  const best = Math.max(...scores);
  // A row of unknown words is still a header if no cell could be a date or an amount.
  const isHeader = all[0]!.cells.every((cell) => !readDate(cell) && !readMoney(cell));
  const index = best >= 2 ? scores.indexOf(best) : isHeader ? 0 : -1;

  const rows = all.slice(index + 1);
  const width = index < 0 ? Math.max(...rows.map(({ cells }) => cells.length)) : all[index]!.cells.length;
  const headers = Array.from(
    { length: width },
    (_, column) => (index < 0 ? "" : all[index]!.cells[column]) || `Column ${column + 1}`,
  );
  const plainHeaders = headers.map(plainHeader);
  const columns: Columns = {};
  const assumed: FoundColumns["assumed"] = index < 0 ? [{ code: "no_header" }] : [];
  const assume = (field: Field, column: number) => {
    if (index >= 0) assumed.push({ code: "column_by_cells", params: { field, header: headers[column] } });
  };
  const isFree = (column: number) => !Object.values(columns).includes(column);

  for (const field of FIELDS) {
    const wanted = mapping[field];
    if (!wanted) continue;
    const exact = headers.findIndex((header) => header === wanted);
    const plain = plainHeader(wanted);
    const like = plainHeaders.findIndex((header) => isSameHeader(header, plain));
    const number = /^\d{1,3}$/.test(wanted) ? Number(wanted) - 1 : -1;
    const column = exact >= 0 ? exact : like >= 0 ? like : number < width ? number : -1;
    if (column < 0) return { missing: field, headers };
    columns[field] = column;
  }
  for (const field of ORDER) {
    // An empty name excludes the field.
    if (columns[field] !== undefined || mapping[field] === "") continue;
    const [column] = plainHeaders.map((header, column) => ({ column, rank: rankOf(field, header) }))
      .filter(({ column, rank }) => rank !== undefined && isFree(column) && looksLike(rows, column, field))
      .toSorted((a, b) => a.rank! - b.rank!);
    if (column) columns[field] = column.column;
  }
  for (const field of ["date", "amount"] as const) {
    if (columns[field] !== undefined) continue;
    const column = headers.findIndex((_, column) => isFree(column) && looksLike(rows, column, field));
    if (column < 0) continue;
    columns[field] = column;
    assume(field, column);
  }
  if (columns.currency === undefined && mapping.currency !== "" && !saysCurrency(rows, headers, columns.amount)) {
    const found = plainHeaders.flatMap((header, column) =>
      isFree(column) && !FOREIGN.test(header) && isCurrencies(rows, column) ? column : []
    );
    if (found.length === 1) {
      columns.currency = found[0];
      assume("currency", found[0]!);
    } else if (found.length > 1) {
      assumed.push({ code: "several_currencies", params: { headers: found.map((column) => headers[column]) } });
    }
  }
  if (columns.name === undefined && columns.payee === undefined) {
    const column = headers.findIndex((_, column) => isFree(column) && isText(rows, column));
    if (column >= 0) {
      columns.name = column;
      assume("name", column);
    }
  }
  return { headers, columns, rows, assumed, ...(index >= 0 && { headerLine: all[index]!.line }) };
}

const cellsOf = (rows: CsvRow[], column: number) =>
  rows.map(({ cells }) => cells[column] ?? "").filter((cell) => cell !== "");

/** Enough cells to classify a column; checking all cells of 200 columns would be slow. */
const MAX_SAMPLED_CELLS = 100;
function someCellsOf(rows: CsvRow[], column: number): string[] {
  const cells: string[] = [];
  for (const row of rows) {
    if (row.cells[column] && cells.push(row.cells[column]) === MAX_SAMPLED_CELLS) break;
  }
  return cells;
}

/** Whether most non-empty cells could belong to the field. */
function looksLike(rows: CsvRow[], column: number, field: Field): boolean {
  const look = CELL_TESTS[field];
  if (!look) return true;
  const cells = someCellsOf(rows, column);
  return cells.length > 0 && cells.filter(look).length * 2 >= cells.length;
}

/** Headers of the shop's original charge, as opposed to the account's: "Original currency", "Fremdwährung". */
const FOREIGN = /origin|foreign|fremd|etrang|extranj|stranier|vreemd|estrang/;

/** Whether the amounts state their currency, in the header or with a sign. */
const saysCurrency = (rows: CsvRow[], headers: string[], column: number | undefined) =>
  column !== undefined &&
  (currencyInHeader(headers[column]!) !== undefined || cellsOf(rows, column).some((cell) => readMoney(cell)?.currency));

/** Whether every non-empty cell is a known currency code; any other three letters could be anything. */
const isCurrencies = (rows: CsvRow[], column: number) => {
  const some = someCellsOf(rows, column);
  return some.length > 0 && some.every(isKnownCurrency) && cellsOf(rows, column).every(isKnownCurrency);
};

/** "Betrag (EUR)", "Amount in USD", "Importe €". */
export function currencyInHeader(header: string): string | undefined {
  const word = header.split(/[\s()[\]/]+/).filter(Boolean).slice(1).at(-1);
  return word && (readCurrency(word) !== undefined && (/^[A-Z]{3}$/.test(word) || !/^[a-z]+$/i.test(word)))
    ? readCurrency(word)
    : undefined;
}

const isText = (rows: CsvRow[], column: number) => {
  const cells = someCellsOf(rows, column);
  return cells.length > 0 &&
    cells.filter((cell) => /\p{L}/u.test(cell) && !readDate(cell) && !readMoney(cell)).length * 2 >= cells.length;
};
