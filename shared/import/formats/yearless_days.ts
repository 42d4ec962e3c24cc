/** Completes days without a year from the lines above the table: "02/10" from "01/10/2026 - 31/10/2026". */
import { type DateOrder, readDate, toIsoDate } from "../date_text.ts";
import { plainHeader, rankOf } from "../header_words.ts";
import type { CsvRow } from "../read_csv.ts";
import { cut } from "../shorten.ts";

const YEARLESS = /^'?(\d{1,2})([-/.])(\d{1,2})\.?$/;
const FULL_DAY = /\d{1,4}[-/.]\d{1,2}[-/.]\d{2,4}/g;
/** The lines above a table are few and short. */
const [MOST_ABOVE, MOST_LETTERS] = [30, 200];

/** The days in the lines above a table, such as the period of the statement. */
const daysAbove = (rows: CsvRow[]): string[] =>
  rows.slice(0, MOST_ABOVE).flatMap(({ cells }) =>
    cells.flatMap((cell) => cut(cell, MOST_LETTERS).match(FULL_DAY) ?? [])
  );

/** The order of days that the lines above the table prove. */
export function orderAbove(preamble: CsvRow[]): DateOrder | undefined {
  const orders = new Set(daysAbove(preamble).flatMap((text) => readDate(text)?.order ?? []));
  orders.delete("YMD");
  return orders.size === 1 ? [...orders][0] : undefined;
}

/** @param rows all rows of the file; the function changes their cells in place */
export function completeDays(rows: CsvRow[]): void {
  const header = rows.slice(0, MOST_ABOVE).findIndex(({ cells }) =>
    cells.length > 2 && cells.some((cell) => rankOf("date", plainHeader(cell)) !== undefined)
  );
  if (header < 1) return;
  const column = rows[header]!.cells.findIndex((cell) => rankOf("date", plainHeader(cell)) !== undefined);
  const numbered = rows.slice(header + 1).filter(({ cells }) => /^'?\d/.test(cells[column] ?? ""));
  if (numbered.length === 0 || !numbered.every(({ cells }) => YEARLESS.test(cells[column]!))) return;
  const above = daysAbove(rows.slice(0, header));
  for (const order of ["DMY", "MDY"] as const) {
    const isoOf = (text: string) => {
      const day = readDate(text);
      return day && toIsoDate(day, order);
    };
    const said = above.map(isoOf).filter((day) => day !== undefined).toSorted();
    const [from, to] = [said[0], said.at(-1)];
    if (from === undefined || to === undefined || said.length < above.length) continue;
    const years = [...new Set([from.slice(0, 4), to.slice(0, 4)])];
    const completed = numbered.map(({ cells }) => {
      const [, one, sign, other] = YEARLESS.exec(cells[column]!)!;
      const days = years.map((year) => [one, other, year].join(sign));
      const within = days.filter((text) => {
        const day = isoOf(text);
        return day !== undefined && day >= from && day <= to;
      });
      return within.length === 1 ? within[0]! : undefined;
    });
    if (!completed.every((day) => day !== undefined)) continue;
    numbered.forEach(({ cells }, i) => cells[column] = completed[i]!);
    return;
  }
}
