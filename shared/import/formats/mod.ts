/** Detects the format of a text and reads it. */
import type { Mapping } from "../find_columns.ts";
import type { ImportProblem, Statement } from "../statement.ts";
import { isCamt, readCamt } from "./camt.ts";
import { readCsvStatement } from "./csv.ts";
import { isMt940, readMt940 } from "./mt940.ts";
import { isOfx, readOfx } from "./ofx.ts";
import { isQif, readQif } from "./qif.ts";
import { findOther, refuse } from "./refusals.ts";

/** Reads a file's text in any of the formats; a text without another format's marks is CSV. */
export function readFormat(written: string, mapping: Mapping, mostRows: number): Statement | ImportProblem {
  // Old Mac programs end lines with CR.
  const text = written.includes("\n") ? written : written.replaceAll("\r", "\n");
  const other = findOther(text);
  if (other) return other;
  if (isOfx(text)) return readOfx(text, mostRows);
  if (isCamt(text)) return readCamt(text, mostRows);
  if (/^\s*<[?!\w]/.test(text.slice(0, 200))) return refuse("XML");
  if (isQif(text)) return readQif(text, mostRows);
  return isMt940(text) ? readMt940(text, mostRows) : readCsvStatement(text, mapping, mostRows);
}
