/** Finds a workbook's styles that show numbers as dates, and converts a number to its date. */
import { attributeOf, scanMarkup } from "../formats/scan_markup.ts";

/** Built-in formats of every workbook (ECMA-376, 18.8.30), including East Asia's. */
const isBuiltInDate = (id: number) =>
  (id >= 14 && id <= 17) || id === 22 || (id >= 27 && id <= 36) || (id >= 50 && id <= 58);
/** Longer formats are not dates. */
const MAX_FORMAT = 200;

/** The styles, by number, that show a date. @returns undefined when the file is broken */
export function dateStyles(styles: string): Set<number> | undefined {
  const formats = new Map<number, boolean>();
  const dates = new Set<number>();
  let isInCells = false;
  let count = 0;
  const isRead = scanMarkup(styles, {
    open(name, tag, _text, isEmpty) {
      const id = Number(attributeOf(tag, "numFmtId"));
      if (name === "numFmt") formats.set(id, isDateFormat(attributeOf(tag, "formatCode") ?? ""));
      if (name === "cellXfs") isInCells = !isEmpty;
      if (name === "xf" && isInCells) {
        if (formats.get(id) ?? isBuiltInDate(id)) dates.add(count);
        count++;
      }
    },
    close(name) {
      if (name === "cellXfs") isInCells = false;
    },
  });
  return isRead ? dates : undefined;
}

/** Whether a format shows a day or a year: d, y, or a month that is a word; ignores text and colors. */
export function isDateFormat(code: string): boolean {
  if (code.length > MAX_FORMAT) return false;
  const [positive = ""] = code.replace(/"[^"]*"|\\.|_.|\*.|\[[^\]]*\]/g, "").split(";");
  return /[dy]|mmm/i.test(positive) && !/general/i.test(positive);
}

const DAY = 86_400_000;
/** 9999-12-31. */
const LAST = 2_958_466;

/**
 * The day of a serial number, YYYY-MM-DD, without its time. @param is1904 whether days count from 1904, as in old Mac
 * programs
 */
export function serialDate(serial: number, is1904: boolean): string | undefined {
  const days = Math.floor(serial) + (is1904 ? 1462 : 0);
  if (!(days >= 1 && days < LAST)) return undefined;
  // The first spreadsheet program treated 1900 as a leap year.
  const since = Date.UTC(1899, 11, days < 61 ? 31 : 30);
  return new Date(since + days * DAY).toISOString().slice(0, 10);
}
