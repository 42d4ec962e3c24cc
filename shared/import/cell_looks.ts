/** The look of a column's cells, and the currencies in its header. */
import type { CsvRow } from "./read_csv.ts";
import { readDate } from "./date_text.ts";
import { plainHeader, type Role } from "./header_words.ts";
import { lookUp } from "./formats/look_up.ts";
import { directionOf, isUnbooked } from "./kinds.ts";
import { isKnownCurrency, readCurrency, readMoney } from "./money_text.ts";
import { cut } from "./shorten.ts";
import { readUrl } from "./url_text.ts";

/** The required form of cells in these roles; other roles accept any text. */
const CELL_TESTS: Partial<Record<Role, (cell: string) => unknown>> = {
  date: readDate,
  amount: readMoney,
  out: readMoney,
  in: readMoney,
  balance: readMoney,
  fee: readMoney,
  currency: readCurrency,
  original_amount: readMoney,
  original_currency: readCurrency,
  url: readUrl,
};

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

/** The empty side of a row with two amount columns. */
export const BLANK = /^[-–—]*$/;

/** Whether most non-empty cells could belong to the role; columns of money out and in may be empty. */
export function looksLike(rows: CsvRow[], column: number, role: Role): boolean {
  const look = CELL_TESTS[role];
  if (!look) return true;
  const isSide = role === "in" || role === "out";
  const cells = someCellsOf(rows, column).filter((cell) => !isSide || !BLANK.test(cell));
  return isSide && cells.length === 0 ||
    cells.length > 0 && cells.filter(look).length * 2 >= cells.length;
}

/** How many of a column's first rows have an amount. */
export const countMoved = (rows: CsvRow[], column: number): number =>
  rows.slice(0, MAX_SAMPLED_CELLS).filter(({ cells }) => /[1-9]/.test(cells[column] ?? "")).length;

/** Headers of the shop's original charge, as opposed to the account's: "Original currency", "Fremdwährung". */
export const FOREIGN = /origin|foreign|fremd|etrang|extranj|stranier|vreemd|estrang/;

/** Whether the amounts state their currency, in the header or with a sign. */
export const saysCurrency = (rows: CsvRow[], headers: string[], column: number | undefined) =>
  column !== undefined &&
  (currencyInHeader(headers[column]!) !== undefined || cellsOf(rows, column).some((cell) => readMoney(cell)?.currency));

/** Whether every non-empty cell is a known currency code; other groups of three letters could mean anything. */
export const isCurrencies = (rows: CsvRow[], column: number) => {
  const some = someCellsOf(rows, column);
  return some.length > 0 && some.every(isKnownCurrency) && cellsOf(rows, column).every(isKnownCurrency);
};

/** Expense programs name kinds ("Expense", "Transfer"); a bank's "Transfer" can be any payment. */
const PROGRAM_WORDS =
  /^(expenses?|ausgaben?|d[eé]penses?|gastos?|spes[ae]|uitgaven?|despesas?|wydat\p{L}+|withdrawal|支出)$/iu;

/** Whether every row has a direction, and at least one row is spending. */
export function isDirections(rows: CsvRow[], column: number): boolean {
  const said = (cells: string[]) => cells.map(directionOf);
  const some = said(someCellsOf(rows, column));
  if (!some.includes("out") || some.includes(undefined)) return false;
  const cells = cellsOf(rows, column);
  const all = said(cells);
  return cells.length === rows.length && !all.includes(undefined) &&
    (!all.includes("own_transfer") || cells.some((cell) => PROGRAM_WORDS.test(cell)));
}

/** Whether every row is incoming or names a way to pay. "Credit" can mean both, so it proves nothing. */
export const mayBeIncome = (rows: CsvRow[], column: number) =>
  rows.every(({ cells }) => directionOf((cells[column] ?? "").slice(0, 40)) === "in");

const ANSWERS = /^[ynjnosxv✓✔-]$/i;
/** Whether almost every row has one of two unknown letters, which may mark the direction. */
export const hasTwoMarks = (rows: CsvRow[], column: number): boolean => {
  const said = cellsOf(rows, column).filter((cell) => /^[\p{L}+]$/u.test(cell));
  const marks = new Set(said);
  return marks.size === 2 && said.length * 10 >= rows.length * 9 &&
    ![...marks].every((mark) => ANSWERS.test(mark));
};

/** Whether some rows are marked as incoming while the others have no known mark. */
export const someCameIn = (rows: CsvRow[], column: number): boolean =>
  rows.some(({ cells }) => CAME_IN.test(plainHeader(cells[column] ?? "").slice(0, 40)));
/** "Credit" may also be the way to pay. */
const CAME_IN =
  /^(income|deposits?|inflow|revenue|refund|einnahmen?|eingang|gutschrift|einzahlung|recette|ingreso|abono|entrata|accredito|receita|przychod|uznanie|insattning|innskudd|indbetaling)$/;

/** "Betrag (EUR)", "Amount in USD", "Importe €". */
export function currencyInHeader(header: string): string | undefined {
  const last = header.split(/[\s()[\]/]+/).filter(Boolean).slice(1).at(-1);
  // "Withdrawals ($NZD)"
  const word = last?.replace(/^\P{L}+(?=[A-Z]{3}$)/u, "");
  return word && (readCurrency(word) !== undefined && (/^[A-Z]{3}$/.test(word) || !/^[a-z]+$/i.test(word)))
    ? readCurrency(word)
    : undefined;
}

/** Marks beside the amount, such as CR, that only some rows have. */
const MARK = /^(cr|dr|c|d|\+|-)\.?$/i;
const IN = /^(cr|c|\+)\.?$/i;

/** Whether a column marks some rows as credits or debits; all other rows then get the opposite mark. */
export function fillMarks(rows: CsvRow[], column: number): boolean {
  const marks = someCellsOf(rows, column);
  if (marks.length === 0 || !cellsOf(rows, column).every((cell) => MARK.test(cell))) return false;
  const isIn = IN.test(marks[0]!);
  const isEven = cellsOf(rows, column).every((cell) => IN.test(cell) === isIn);
  if (!isEven && cellsOf(rows, column).length < rows.length) return false;
  for (const { cells } of rows) {
    const says = cells[column] ? IN.test(cells[column]) : !isIn;
    while (cells.length <= column) cells.push("");
    cells[column] = says ? "cr" : "dr";
  }
  return true;
}

/** Whether a cell marks its row as unbooked. */
export const saysUnbooked = (rows: CsvRow[], column: number): boolean => {
  const unbooked = lookUp(isUnbooked);
  return rows.some(({ cells }) => cells[column] && unbooked(cells[column]));
};

/** The number of different texts in a column's first cells, ignoring numbers and times. */
export const distinctTexts = (rows: CsvRow[], column: number): number =>
  new Set(someCellsOf(rows, column).map((cell) => cut(cell, 200).replace(/[\d.,:/\s-]+/g, " "))).size;

/** Sorts columns by their number of different texts, then by text length. */
export const byTexts = (rows: CsvRow[]) => (one: number, other: number): number =>
  distinctTexts(rows, other) - distinctTexts(rows, one) ||
  someCellsOf(rows, other).join("").length - someCellsOf(rows, one).join("").length;

/** Whether more than four in five of a column's rows have the same text, which then identifies none of them. */
export function saysTheSame(rows: CsvRow[], column: number): boolean {
  const counts = new Map<string, number>();
  const some = rows.slice(0, MAX_SAMPLED_CELLS);
  for (const { cells } of some) counts.set(cells[column] ?? "", (counts.get(cells[column] ?? "") ?? 0) + 1);
  counts.delete("");
  return some.length > 2 && Math.max(0, ...counts.values()) > some.length * 0.8;
}

const YES_NO = /^(ja|nein|yes|no|oui|non|s[ií]|nee|tak|nie|ano|ne|да|нет|evet|hayır|true|false)$/i;

export const isText = (rows: CsvRow[], column: number) => {
  const cells = someCellsOf(rows, column);
  return cells.length > 0 && !cells.every((cell) => YES_NO.test(cell)) &&
    cells.filter((cell) => /\p{L}/u.test(cell) && !readDate(cell) && !readMoney(cell)).length * 2 >= cells.length;
};
