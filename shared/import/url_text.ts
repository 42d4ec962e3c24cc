/** Links as they stand in a cell. */
import { PATTERNS } from "../connector/schema.ts";

const LINK = new RegExp(PATTERNS.url);
/** As many characters as the books keep; a link that is cut off leads nowhere. */
const MAX_LENGTH = 2000;

/** The link in a cell; undefined for anything else, also for nothing. */
export const readUrl = (cell: string): string | undefined =>
  cell !== "" && cell.length <= MAX_LENGTH && LINK.test(cell) ? cell : undefined;
