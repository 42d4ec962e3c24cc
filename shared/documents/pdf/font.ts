/** Fonts of a PDF: the letters behind the bytes of a text, and their widths (ISO 32000-1, 9.5 to 9.10). */
import { isStream, type PdfFile } from "./file.ts";
import { toLetters } from "./filters.ts";
import { letterOfGlyph, LOST, standardWidths, tableOf } from "./glyphs.ts";
import { type Dict, isDict, nameIn, type Value, ValueReader, Word } from "./values.ts";

export interface Glyph {
  /** LOST when the font does not name the letter. */
  letter: string;
  /** In fractions of the font's size. */
  width: number;
  isSpace: boolean;
}

export type Font = (text: string) => Glyph[];

const MOST_CODES = 65_536;
/** An entry of a map counts as several steps. */
const TABLE_STEPS = 4;

export function readFont(file: PdfFile, dict: Dict): Font {
  const table = tableBack(file, dict);
  return file.nameAt(dict, "Subtype") === "Type0" ? wideFont(file, dict, table) : simpleFont(file, dict, table);
}

function simpleFont(file: PdfFile, dict: Dict, table: Map<number, string>): Font {
  const letters = lettersOf(file, dict);
  const first = file.numberAt(dict, "FirstChar") ?? 0;
  const widths = file.arrayIn(dict.get("Widths"));
  const standard = standardWidths(file.nameAt(dict, "BaseFont") ?? "");
  const matrix = file.arrayIn(dict.get("FontMatrix")).map((one) => file.get(one));
  const scale = file.nameAt(dict, "Subtype") === "Type3" && typeof matrix[0] === "number" ? Math.abs(matrix[0]) : 0.001;
  return (text) =>
    Array.from(text, (byte) => {
      file.budget.spend();
      const code = byte.charCodeAt(0);
      const width = file.get(widths[code - first]);
      return {
        letter: table.get(code) ?? letters[code] ?? LOST,
        width: typeof width === "number" ? width * scale : standard(code) / 1000,
        isSpace: code === 32,
      };
    });
}

/** Don't guess the letters of a font that doesn't name them, because any code could be any digit. */
function lettersOf(file: PdfFile, dict: Dict): string[] {
  const encoding = file.get(dict.get("Encoding"));
  const descriptor = file.dictIn(dict.get("FontDescriptor"));
  const isOwn = ["FontFile", "FontFile2", "FontFile3"].some((key) => descriptor.has(key)) &&
      ((file.numberAt(descriptor, "Flags") ?? 0) & 4) !== 0 || file.nameAt(dict, "Subtype") === "Type3";
  const isNone = /symbol|dingbats/i.test(file.nameAt(dict, "BaseFont") ?? "");
  const base = nameIn(encoding) ?? (isDict(encoding) ? file.nameAt(encoding, "BaseEncoding") : undefined);
  const letters = base === undefined && (isOwn || isNone) ? [] : tableOf(base);
  let code = 0;
  for (const one of isDict(encoding) ? file.arrayIn(encoding.get("Differences")) : []) {
    file.budget.spend();
    const value = file.get(one);
    if (typeof value === "number") code = value & 255;
    else letters[code++ & 255] = letterOfGlyph(nameIn(value) ?? "");
  }
  return letters;
}

function wideFont(file: PdfFile, dict: Dict, table: Map<number, string>): Font {
  const encoding = file.nameAt(dict, "Encoding") ?? "";
  const isUnicode = /^Uni.*-(UCS2|UTF16)-/.test(encoding);
  const cid = file.dictIn(file.arrayIn(dict.get("DescendantFonts"))[0]);
  const usual = file.numberAt(cid, "DW") ?? 1000;
  const widths = widthsOf(file, file.arrayIn(cid.get("W")));
  return (text) => {
    const glyphs: Glyph[] = [];
    for (let at = 0; at + 1 < text.length; at += 2) {
      file.budget.spend();
      const code = text.charCodeAt(at) << 8 | text.charCodeAt(at + 1);
      glyphs.push({
        letter: table.get(code) ?? (isUnicode ? String.fromCharCode(code) : LOST),
        width: (widths.get(code) ?? usual) / 1000,
        isSpace: false,
      });
    }
    return glyphs;
  };
}

/** "first [w1 w2 …]" or "first last w". */
function widthsOf(file: PdfFile, values: Value[]): Map<number, number> {
  const widths = new Map<number, number>();
  for (let i = 0; i + 1 < values.length;) {
    const [first, next, width] = [values[i], values[i + 1], values[i + 2]].map((one) => file.get(one));
    if (typeof first !== "number") break;
    if (Array.isArray(next)) {
      next.forEach((one, j) => {
        file.budget.spend(TABLE_STEPS);
        if (typeof one === "number") widths.set(first + j, one);
      });
      i += 2;
    } else {
      const last = Math.min(typeof next === "number" ? next : first, MOST_CODES);
      for (let code = Math.max(0, first); code <= last && typeof width === "number"; code++) {
        file.budget.spend(TABLE_STEPS);
        widths.set(code, width);
      }
      i += 3;
    }
  }
  return widths;
}

const numberOf = (bytes: string) => [...bytes.slice(-4)].reduce((code, byte) => code * 256 + byte.charCodeAt(0), 0);
function textOf(bytes: string): string {
  const codes = Array.from(
    { length: bytes.length >> 1 },
    (_, i) => bytes.charCodeAt(2 * i) << 8 | bytes.charCodeAt(2 * i + 1),
  );
  return String.fromCharCode(...codes.slice(0, 8)).normalize("NFKC");
}

/** The table from codes to letters: bfchar pairs, and bfrange triples (Adobe Technical Note 5411). */
function tableBack(file: PdfFile, dict: Dict): Map<number, string> {
  const table = new Map<number, string>();
  const stream = file.resolve(dict.get("ToUnicode"));
  const bytes = isStream(stream) ? file.bytesOf(stream) : undefined;
  if (!bytes) return table;
  const reader = new ValueReader(toLetters(bytes), file.budget);
  let values: Value[] = [];
  for (let value = reader.next(); value !== undefined; value = reader.next()) {
    if (!(value instanceof Word)) {
      values.push(value);
      continue;
    }
    if (value.word === "endbfchar") {
      for (let i = 0; i + 1 < values.length; i += 2) {
        const [code, letter] = [values[i], values[i + 1]];
        if (typeof code === "string" && typeof letter === "string") table.set(numberOf(code), textOf(letter));
      }
    }
    if (value.word === "endbfrange") takeRanges(file, values, table);
    values = [];
  }
  return table;
}

function takeRanges(file: PdfFile, values: Value[], table: Map<number, string>): void {
  for (let i = 0; i + 2 < values.length; i += 3) {
    const [from, to, letters] = [values[i], values[i + 1], values[i + 2]];
    if (typeof from !== "string" || typeof to !== "string") continue;
    const first = numberOf(from);
    const base = typeof letters === "string" ? textOf(letters) : "";
    for (let code = first; code <= Math.min(numberOf(to), MOST_CODES); code++) {
      file.budget.spend(TABLE_STEPS);
      const listed = Array.isArray(letters) ? letters[code - first] : undefined;
      if (typeof listed === "string") table.set(code, textOf(listed));
      else if (base) table.set(code, plus(base, code - first));
    }
  }
}

/** Increments the last character. */
const plus = (text: string, count: number): string =>
  text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + count);
