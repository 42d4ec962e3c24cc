/** Finds a table's header line and its known export. */
import type { CsvRow } from "./read_csv.ts";
import { readDate } from "./date_text.ts";
import { isSameHeader, plainHeader, rolesOf } from "./header_words.ts";
import { findBareLayout, findLayout, type KnownLayout } from "./layouts/mod.ts";
import { readMoney } from "./money_text.ts";

/** Lines about the account may precede the header, so the search for it continues down to this row. */
export const MAX_HEADER_ROW = 200;
/** The columns that identify a file without a header. */
const SAMPLED_ROWS = 5;

/** Lines about the account are short, so the search stops earlier in a table with many columns. */
const MAX_HEADER_CELLS = 5_000;

export interface FoundHeader {
  /** Row of the header; -1 without one. */
  index: number;
  known?: KnownLayout | undefined;
}

/** @param named columns that the caller named */
export function findHeader(all: CsvRow[], named: string[]): FoundHeader {
  const first = firstRows(all).map(({ cells }) => cells.map(plainHeader));
  for (const [index, plain] of first.entries()) {
    const known = findLayout(plain);
    if (known) return { index, known };
  }
  const bare = findBareLayout(all.slice(0, SAMPLED_ROWS).map(({ cells }) => cells));
  if (bare) return { index: -1, known: bare };
  const wanted = named.map(plainHeader);
  const scores = first.map((plain) =>
    new Set(plain.flatMap(rolesOf)).size +
    plain.filter((cell) => wanted.some((name) => isSameHeader(cell, name))).length
  );
  const best = Math.max(...scores);
  // A row of unknown words is still a header if no cell could be a date or an amount.
  const isHeader = all[0]!.cells.every((cell) => !readDate(cell) && !readMoney(cell));
  return { index: best >= 2 ? scores.indexOf(best) : isHeader ? 0 : -1 };
}

/** The rows that may be headers; at least one. */
function firstRows(all: CsvRow[]): CsvRow[] {
  let cells = 0;
  const end = all.slice(0, MAX_HEADER_ROW).findIndex((row) => (cells += row.cells.length) > MAX_HEADER_CELLS);
  return all.slice(0, end < 0 ? MAX_HEADER_ROW : Math.max(end, 1));
}
