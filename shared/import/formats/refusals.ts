/** The reasons why a file can't be read. */
import type { ImportProblem } from "../statement.ts";
import { billsInJson, refuseBills } from "./bills.ts";

/** A broken file in a supported format. */
export const notReadable = (format: string): ImportProblem => ({
  code: "invalid_argument.file_broken",
  params: { format },
  field: "csv",
});

export const refuse = (kind: string): ImportProblem => ({
  code: "invalid_argument.file_kind",
  params: { kind },
  field: "csv",
});

export const refuseArchive = (kind: string): ImportProblem => ({
  code: "invalid_argument.file_packed",
  params: { kind },
  field: "csv",
});

/** Beginnings of files, as text and in Base64. */
const OTHERS: [string[], string][] = [
  [["PK\u0003\u0004", "UEsDB"], "XLSX or ZIP"],
  [["%PDF", "JVBERi0"], "PDF"],
  [["\u00d0\u00cf\u0011\u00e0", "0M8R4K"], "XLS, or XLSX with a password"],
  [["<!doctype html", "<html", "<head", "<meta", "<body", "<table", "<div", "<style"], "HTML"],
  [["{\\rtf"], "RTF"],
  [["\u0089PNG", "\u00ff\u00d8\u00ff", "GIF8", "II*\0", "MM\0*", "iVBORw0", "/9j/"], "image"],
  [["SQLite format 3"], "SQLite"],
];
const ARCHIVES: [string, string][] = [
  ["PK\u0003\u0004", "ZIP"],
  ["PK\u0005\u0006", "ZIP"],
  ["\u001f\u008b", "GZIP"],
  ["7z\u00bc\u00af", "7z"],
  ["Rar!", "RAR"],
  ["BZh", "bzip2"],
  ["\u00fd7zXZ", "xz"],
  ["(\u00b5/\u00fd", "Zstandard"],
];

/** The kind of a text in an unsupported format. */
export function findOther(text: string): ImportProblem | undefined {
  const start = text.slice(0, 200);
  if (/^\s*(\{\s*"|\[\s*[{["])/.test(start)) {
    const isBills = text.slice(0, 4000).includes('"Next Payment"') || text.slice(0, 4000).includes('"next_payment"');
    return isBills ? refuseBills(billsInJson(text)) : refuse("JSON");
  }
  return refuseByMark(start);
}

/** @param start of the file, one letter per byte or as text */
export function refuseByMark(start: string): ImportProblem | undefined {
  const plain = start.trimStart();
  const begins = (mark: string) => plain.startsWith(mark) || plain.toLowerCase().startsWith(mark);
  const kind = OTHERS.find(([marks]) => marks.some(begins))?.[1];
  return kind === undefined ? undefined : refuse(kind);
}

/** The kind of an archive, by its first bytes. @param start one letter per byte */
export const archiveKind = (start: string): string | undefined =>
  ARCHIVES.find(([mark]) => start.startsWith(mark))?.[1];

/** The kind of a ZIP archive without an XLSX workbook. */
export function findPacked(names: string[]): ImportProblem {
  const has = (pattern: RegExp) => names.some((name) => pattern.test(name.slice(0, 80)));
  if (has(/^xl\/workbook\.bin$/)) return refuse("XLSB");
  if (has(/^content\.xml$/)) return refuse("ODS");
  if (has(/^index(\.zip|\/)/)) return refuse("Numbers");
  if (has(/^word\//)) return refuse("DOCX");
  return refuseArchive("ZIP");
}
