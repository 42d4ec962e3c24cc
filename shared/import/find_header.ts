/** Finds a table's header line, and the known export that it belongs to. */
import type { CsvRow } from "./read_csv.ts";
import { readDate } from "./date_text.ts";
import { isSameHeader, plainHeader, rankOf, ROLES } from "./header_words.ts";
import { findBareLayout, findLayout, type KnownLayout } from "./layouts/mod.ts";
import { readMoney } from "./money_text.ts";

/** Exports may start with lines about the account; the header is searched for down to this row. */
export const MAX_HEADER_ROW = 200;
/** A file without a header is recognized by these. */
const SAMPLED_ROWS = 5;

export interface FoundHeader {
  /** Row of the header; -1 without one. */
  index: number;
  known?: KnownLayout | undefined;
}

/** @param named columns that the caller named. */
export function findHeader(all: CsvRow[], named: string[]): FoundHeader {
  const first = all.slice(0, MAX_HEADER_ROW).map(({ cells }) => cells.map(plainHeader));
  for (const [index, plain] of first.entries()) {
    const known = findLayout(plain);
    if (known) return { index, known };
  }
  const bare = findBareLayout(all.slice(0, SAMPLED_ROWS).map(({ cells }) => cells));
  if (bare) return { index: -1, known: bare };
  const wanted = named.map(plainHeader);
  const scores = first.map((plain) =>
    ROLES.filter((role) => plain.some((cell) => rankOf(role, cell) !== undefined)).length +
    plain.filter((cell) => wanted.some((name) => isSameHeader(cell, name))).length
  );
  const best = Math.max(...scores);
  // A row of unknown words is still a header if no cell could be a date or an amount.
  const isHeader = all[0]!.cells.every((cell) => !readDate(cell) && !readMoney(cell));
  return { index: best >= 2 ? scores.indexOf(best) : isHeader ? 0 : -1 };
}
