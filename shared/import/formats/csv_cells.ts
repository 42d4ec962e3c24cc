/** Reads a row's cell by the column's role. */
import type { Role } from "../header_words.ts";
import type { RoleColumns } from "../layouts/mod.ts";
import { cut } from "../shorten.ts";

/** "" for an empty cell. */
export type Cell = (cells: string[], role: Role) => string;

/** Longer than any field or accepted link. */
const MAX_CELL = 4000;

/** The first of a role's columns that is not empty. */
export function cellReader(columns: RoleColumns): Cell {
  return (cells, role) => {
    const places = columns[role];
    if (!places) return "";
    for (const place of places) {
      const cell = cells[place];
      if (cell) return unescapeFormula(cut(cell, MAX_CELL));
    }
    return "";
  };
}

/** Spreadsheets and our own export put an apostrophe before text that would run as a formula. */
const unescapeFormula = (text: string) => text.startsWith("'") ? text.replace(/^'(?=[=+@\t\r\n＝＋－＠-])/, "") : text;
