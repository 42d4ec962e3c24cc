/**
 * Converts the bytes of an uploaded file into text: a workbook's table, or text in any encoding. An error names any
 * other type.
 */
import type { Said } from "../words/message.ts";
import { decodeFile } from "./decode_file.ts";
import { archiveKind, findPacked, notReadable, refuse, refuseArchive, refuseByMark } from "./formats/refusals.ts";
import type { RepairedText } from "./repair_text.ts";
import type { ImportProblem } from "./statement.ts";
import { hasWorkbook, isPart, readXlsx } from "./xlsx/read_xlsx.ts";
import { unpack } from "./xlsx/unpack.ts";

export const MAX_UPLOAD_BYTES = 10 * 1024 * 1024;
/** The maximum length of a file's text in the database. */
const MAX_CHARACTERS = 12_000_000;
/** A workbook of 50,000 rows and ten columns has 25 MB; non-Latin letters take twice the memory. */
const MAX_UNPACKED_BYTES = 40 * 1024 * 1024;
const MAX_FILES = 1000;

export interface ReadUpload {
  text: string;
  encoding?: RepairedText["encoding"];
  /** Parts of the file that are missing from the text. */
  warnings: Said[];
}

/** @param name of the file on the person's computer */
export function readUpload(bytes: Uint8Array, name: string): ReadUpload | ImportProblem {
  if (bytes.length > MAX_UPLOAD_BYTES) return tooLarge("invalid_argument.file_too_large", MAX_UPLOAD_BYTES);
  if (bytes.length === 0) return { code: "invalid_argument.file_empty", field: "csv" };
  const start = String.fromCharCode(...bytes.subarray(0, 200));
  const archive = archiveKind(start);
  if (archive === "ZIP") return readPacked(bytes);
  if (archive) return refuseArchive(archive);
  const other = isImage(start) ? refuse("image") : refuseByMark(start);
  if (other) return other;
  const { text, encoding } = decodeFile(bytes);
  if (isBinary(text)) return refuse(/\.\w{1,8}$/.exec(name.slice(-10))?.[0] ?? "?");
  const warnings: Said[] = encoding === "damaged" ? [{ code: "encoding" }] : [];
  return { text, ...(encoding && { encoding }), warnings };
}

function readPacked(bytes: Uint8Array): ReadUpload | ImportProblem {
  const unpacked = unpack(bytes, { isWanted: isPart, mostFiles: MAX_FILES, mostBytes: MAX_UNPACKED_BYTES });
  if (!hasWorkbook(unpacked)) {
    const isCutOff = unpacked.problem === "broken" && unpacked.names.some((name) => name.startsWith("xl/"));
    return isCutOff ? notReadable("XLSX") : findPacked(unpacked.names);
  }
  const unpacksTooLarge = tooLarge("invalid_argument.file_unpacks_too_large", MAX_UNPACKED_BYTES);
  if (unpacked.problem) return unpacked.problem === "too_large" ? unpacksTooLarge : notReadable("XLSX");
  const read = readXlsx(unpacked, { mostCharacters: MAX_CHARACTERS, unpacksTooLarge });
  if ("code" in read) return read;
  const { text, sheet, others } = read;
  return { text, warnings: others.length > 0 ? [{ code: "sheets_left_out", params: { sheet, others } }] : [] };
}

const tooLarge = (
  code: "invalid_argument.file_too_large" | "invalid_argument.file_unpacks_too_large",
  bytes: number,
): ImportProblem => ({ code, params: { most_mb: bytes / 1024 / 1024 }, field: "csv" });

/** WebP and HEIC have their names after their lengths. */
const isImage = (start: string) =>
  (start.startsWith("RIFF") && start.startsWith("WEBP", 8)) || /^ftyp(hei|mif|avi)/.test(start.slice(4, 12));

/** The number of bytes examined. */
const SAMPLE = 4000;

/** Text has no control characters except those of lines, tabs and pages, and the old end-of-file mark. */
function isBinary(text: string): boolean {
  const sample = text.slice(0, SAMPLE);
  // deno-lint-ignore no-control-regex -- counts control characters
  const controls = sample.match(/[\u0000-\u0008\u000e-\u0019\u001b-\u001f]/g)?.length ?? 0;
  return controls * 50 > sample.length;
}
