/** Reads links from cells. */
import { PATTERNS } from "../connector/schema.ts";

const LINK = new RegExp(PATTERNS.url);
/** The database's limit; a truncated link would be broken. */
const MAX_LENGTH = 2000;

/** The link in a cell; undefined for anything else, including an empty cell. */
export const readUrl = (cell: string): string | undefined =>
  cell !== "" && cell.length <= MAX_LENGTH && LINK.test(cell) ? cell : undefined;
