/** Reads an XLSX workbook into the text of its table, like a program that saves it as CSV: values only. */
import { attributeOf, scanMarkup } from "../formats/scan_markup.ts";
import { MAX_COLUMNS } from "../formats/csv.ts";
import { notReadable } from "../formats/refusals.ts";
import { MAX_HEADER_ROW } from "../find_header.ts";
import { type ImportProblem, MAX_UPLOADED_ROWS, tooLong } from "../statement.ts";
import { dateStyles } from "./number_format.ts";
import { type Book, readShared, readSheet, type SheetRow } from "./sheet.ts";
import type { Unpacked } from "./unpack.ts";
import { cut } from "../shorten.ts";

/** The files inside the workbook that the reader needs. */
export const isPart = (name: string): boolean =>
  /^xl\/(workbook|sharedstrings|styles)\.xml$|^xl\/_rels\/workbook\.xml\.rels$|^xl\/worksheets\/[^/]{1,80}\.xml$/
    .test(name);

/** Whether an archive is a workbook, according to its unpacked part. */
export const hasWorkbook = ({ names }: Unpacked): boolean =>
  names.some((name) => /^xl\/workbook\.xml$/.test(name.slice(0, 80)));

export interface ReadWorkbook {
  text: string;
  /** The sheet that was read, and others that also contain a table. */
  sheet: string;
  others: string[];
}

interface Sheet {
  name: string;
  rows: SheetRow[];
  /** Rows that could belong to a table. */
  wide: number;
}

/** @param mostCharacters longer text is refused as `unpacksTooLarge` */
export function readXlsx(
  { files }: Unpacked,
  { mostCharacters, unpacksTooLarge }: { mostCharacters: number; unpacksTooLarge: ImportProblem },
): ReadWorkbook | ImportProblem {
  const part = (name: string) => files.get(name) ?? "";
  const workbook = readWorkbook(part("xl/workbook.xml"), part("xl/_rels/workbook.xml.rels"));
  const shared = readShared(part("xl/sharedstrings.xml"));
  const dates = dateStyles(part("xl/styles.xml"));
  if (!workbook || !shared || !dates) return notReadable("XLSX");
  const book: Book = { shared, dates, is1904: workbook.is1904 };
  const sheets: Sheet[] = [];
  for (const { name, path } of workbook.sheets) {
    const sheet = readSheet(part(path), book, { mostRows: MAX_HEADER_ROW + MAX_UPLOADED_ROWS, mostCells: MAX_COLUMNS });
    if ("problem" in sheet) return sheet.problem === "too_long" ? tooLong(MAX_UPLOADED_ROWS) : notReadable("XLSX");
    sheets.push({ name, rows: sheet.rows, wide: sheet.rows.filter(isWide).length });
  }
  const [best] = sheets.toSorted((a, b) => b.wide - a.wide || b.rows.length - a.rows.length);
  if (!best || best.rows.length === 0) return { code: "invalid_argument.file_empty", field: "csv" };
  const text = writeRows(best.rows, mostCharacters);
  if (text === undefined) return unpacksTooLarge;
  const others = sheets.filter((sheet) => sheet !== best && sheet.wide > 1).map(({ name }) => name);
  return { text, sheet: best.name, others };
}

/** A day, an amount and its purpose. */
const isWide = ({ filled }: SheetRow) => filled >= 3;

/** The visible sheets, in their order. @returns undefined when a file is broken */
function readWorkbook(workbook: string, relations: string) {
  const targets = new Map<string, string>();
  const isRelated = scanMarkup(relations, {
    open(name, tag) {
      const target = name === "Relationship" ? attributeOf(tag, "Target") : undefined;
      if (target) targets.set(attributeOf(tag, "Id") ?? "", pathOf(target));
    },
    close() {},
  });
  const sheets: { name: string; path: string }[] = [];
  let is1904 = false;
  const isRead = scanMarkup(workbook, {
    open(name, tag) {
      if (name === "workbookPr") is1904 = /^(1|true)$/.test(attributeOf(tag, "date1904") ?? "");
      if (name !== "sheet" || /hidden/i.test(attributeOf(tag, "state") ?? "")) return;
      const path = targets.get(attributeOf(tag, "id") ?? "");
      if (path && isPart(path)) sheets.push({ name: cut(attributeOf(tag, "name") ?? "", 60), path });
    },
    close() {},
  });
  return isRelated && isRead ? { sheets, is1904 } : undefined;
}

/** As in the archive: relative to the workbook, or absolute. */
const pathOf = (target: string) => (target.startsWith("/") ? target.slice(1) : `xl/${target}`).toLowerCase();

/** Writes one line for each row of the sheet, so that line numbers match the program's. */
function writeRows(rows: SheetRow[], mostCharacters: number): string | undefined {
  const width = rows.reduce((most, row) => Math.max(most, row.width), 0);
  const lines: string[] = [];
  let length = 0;
  for (const row of rows) {
    while (lines.length < row.number - 1) lines.push("");
    // Rows of equal width show the delimiter.
    const line = row.text + "\t".repeat(width - row.width);
    length += line.length;
    if (length + lines.length > mostCharacters) return undefined;
    lines.push(line);
  }
  return lines.join("\n");
}
