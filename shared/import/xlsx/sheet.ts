/** Reads the cells of a worksheet as text: values only, never formulas. */
import { attributeOf, decodeEntities, scanMarkup } from "../formats/scan_markup.ts";
import { serialDate } from "./number_format.ts";

export interface Book {
  shared: readonly string[];
  /** Styles, by number, that show a date. */
  dates: ReadonlySet<number>;
  is1904: boolean;
}

export interface SheetRow {
  /** The row number that the program shows, from 1. */
  number: number;
  /** Its cells, with tabs between them. */
  text: string;
  width: number;
  /** The number of non-empty cells. */
  filled: number;
}

export interface SheetLimits {
  mostRows: number;
  mostCells: number;
}

export type ReadSheet = { rows: SheetRow[] } | { problem: "broken" | "too_long" };

/** @returns the rows that have a value; a row with too many cells has one more than the limit */
export function readSheet(sheet: string, book: Book, { mostRows, mostCells }: SheetLimits): ReadSheet {
  const rows: SheetRow[] = [];
  let number = 0;
  let cells: string[] = [];
  let [tag, value] = ["", ""];
  let isTooLong = false;
  // Phonetic hints are not part of the text.
  let isAloud = false;
  const isRead = scanMarkup(sheet, {
    open(name, attributes, text, isEmpty) {
      if (name === "c") [tag, value] = [attributes, ""];
      else if (name === "v" || (name === "t" && !isAloud)) value += text;
      else if (name === "row") [number, cells] = [rowNumber(attributes, number), []];
      else if (name === "rPh") isAloud = !isEmpty;
    },
    close(name) {
      if (name === "c" && value !== "") {
        const column = columnOf(tag, cells.length, mostCells);
        while (cells.length < column) cells.push("");
        const text = cellText(tag, value, book);
        if (text === undefined) return false;
        cells[column] = text;
      } else if (name === "row") {
        const filled = cells.filter(Boolean).length;
        const text = cells.map(quoted).join("\t");
        isTooLong = filled > 0 && rows.push({ number, text, width: cells.length, filled }) > mostRows;
        return !isTooLong;
      } else if (name === "rPh") isAloud = false;
    },
    verbatim(text) {
      if (!isAloud) value += text;
    },
  });
  return isTooLong ? { problem: "too_long" } : isRead ? { rows } : { problem: "broken" };
}

/** CSV would read a quotation mark at the beginning of a cell as its own. */
const quoted = (cell: string) => cell.startsWith('"') ? `"${cell.replaceAll('"', '""')}"` : cell;

/** The shared strings that cells refer to by number. @returns undefined when the file is broken */
export function readShared(strings: string): string[] | undefined {
  const shared: string[] = [];
  let value = "";
  let isAloud = false;
  const isRead = scanMarkup(strings, {
    open(name, _tag, text, isEmpty) {
      if (name === "si") value = "";
      else if (name === "t" && !isAloud) value += text;
      else if (name === "rPh") isAloud = !isEmpty;
      if (name === "si" && isEmpty) shared.push("");
    },
    close(name) {
      if (name === "si") shared.push(plainText(value));
      else if (name === "rPh") isAloud = false;
    },
    verbatim(text) {
      if (!isAloud) value += text;
    },
  });
  return isRead ? shared : undefined;
}

const A = "A".charCodeAt(0) - 1;

/** The column of "BC12", from 0; the next one if the cell has no reference. */
function columnOf(tag: string, next: number, most: number): number {
  const reference = attributeOf(tag, "r");
  if (!reference) return Math.min(next, most);
  let column = 0;
  for (let at = 0; at < 3 && reference.charCodeAt(at) > A && reference.charCodeAt(at) <= A + 26; at++) {
    column = column * 26 + reference.charCodeAt(at) - A;
  }
  return Math.min(Math.max(column - 1, 0), most);
}

/** Row numbers only increase. */
function rowNumber(tag: string, previous: number): number {
  const said = Number(attributeOf(tag, "r"));
  return Number.isInteger(said) && said > previous && said <= MAX_ROW ? said : previous + 1;
}
/** No program supports more rows. */
const MAX_ROW = 1_048_576;

/** @returns undefined for a reference to a missing string */
function cellText(tag: string, value: string, { shared, dates, is1904 }: Book): string | undefined {
  const type = attributeOf(tag, "t") ?? "n";
  if (type === "s") return shared[Number(value)];
  if (type === "b") return value === "1" ? "TRUE" : "FALSE";
  if (type === "d") return value.slice(0, 10);
  if (type !== "n") return plainText(value);
  const style = attributeOf(tag, "s");
  const day = style !== undefined && dates.has(Number(style)) ? serialDate(Number(value), is1904) : undefined;
  return day ?? plainNumber(value);
}

/** Programs write cells with fifteen digits; the file may contain rounding errors in the sixteenth and seventeenth. */
const DIGITS = 15;

/** With a decimal point, but never three decimals, because those could be thousands. */
function plainNumber(value: string): string {
  const text = value.length <= DIGITS && /^-?\d+(\.\d+)?$/.test(value) ? value : rounded(Number(value));
  return text.at(-4) === "." ? `${text}0` : text;
}

function rounded(number: number): string {
  if (!Number.isFinite(number)) return "";
  const short = Number(number.toPrecision(DIGITS));
  // Very small and very large numbers have an exponent.
  return Number.isInteger(short) ? short.toFixed() : /e/.test(String(short)) ? short.toFixed(10) : String(short);
}

const plainText = (text: string) => decodeEntities(text).replace(/\s+/g, " ").trim();
