/**
 * The result of reading a file, in the form that `app.import_expenses` expects: facts about the whole file, and its
 * rows in pages.
 */
import type { Said } from "../words/message.ts";
import { type BadRow, type LeftOutRow, type Mapping, MAX_UPLOADED_ROWS } from "./read_import.ts";
import { type ImportProblem, type ImportRow, type ReadImport, readImport } from "./read_import.ts";

/** The number of rows that one database call can stage or match within its time limit. */
export const PAGE_ROWS = 2000;

/** @param latest the last day that a row may have @returns the rows, or the reason why the file is unreadable */
export const readFile = (
  text: string,
  mapping: Mapping,
  latest: string,
  known: { learned?: Mapping | undefined; home?: string | undefined } = {},
): ReadImport | ImportProblem => {
  const { learned = {}, home } = known;
  return readImport(text, mapping, latest, { mostRows: MAX_UPLOADED_ROWS, learned, home });
};

/** The furthest time zone is 14 hours ahead. */
export const latestDay = (at: Date): string => new Date(at.getTime() + 14 * 3_600_000).toISOString().slice(0, 10);

/** The stored facts about the whole file. */
export const describeRead = (
  { mapping, header, account, questions, suggests, left_out, balances, balance_proof }: ReadImport,
  warnings?: Said[],
) => ({
  ...{ mapping, header, questions, left_out },
  ...(suggests && { suggests }),
  ...(warnings && { warnings }),
  ...(account && { account }),
  ...(balances && { balances: { ...balances, ...(balance_proof && { proven: balance_proof === "proven" }) } }),
});

/** The stored facts about a file that needs an answer first; undefined if no answer makes it readable. */
export const describeAsked = ({ asks, params }: ImportProblem, warnings?: Said[]) =>
  asks && {
    ...{ mapping: {}, questions: [], ...params?.details, ...asks },
    ...(warnings && { warnings }),
  };

export interface Page {
  rows: ImportRow[];
  rows_bad: BadRow[];
  left_out_rows: LeftOutRow[];
  /** The last line of the page. */
  through: number;
  is_last: boolean;
}

/** Every line that the import keeps, in the order of the file. A line has at most one row. */
const linesOf = ({ rows, rows_bad, leftOutRows }: ReadImport) => {
  const read = new Set([...rows, ...rows_bad].map(({ line }) => line));
  // The fee of a transfer is an expense, with the transfer's line.
  return [
    ...rows.map((row) => ({ line: row.line, rows: row })),
    ...rows_bad.map((row) => ({ line: row.line, rows_bad: row })),
    ...leftOutRows.filter(({ line }) => !read.has(line)).map((row) => ({ line: row.line, left_out_rows: row })),
  ].sort((one, other) => one.line - other.line);
};

export const countRows = (read: ReadImport): number => linesOf(read).length;

/** @param after the last staged line */
export function* pagesOf(read: ReadImport, after = 0, size = PAGE_ROWS): Generator<Page & { count: number }> {
  const lines = linesOf(read);
  let start = lines.findIndex(({ line }) => line > after);
  if (start < 0) start = lines.length;
  do {
    const page = lines.slice(start, start + size);
    start += page.length;
    yield {
      rows: page.flatMap((line) => "rows" in line ? [line.rows] : []),
      rows_bad: page.flatMap((line) => "rows_bad" in line ? [line.rows_bad] : []),
      left_out_rows: page.flatMap((line) => "left_out_rows" in line ? [line.left_out_rows] : []),
      through: page.at(-1)?.line ?? after,
      is_last: start >= lines.length,
      count: start,
    };
  } while (start < lines.length);
}
