/**
 * Turns a file into rows for `import_expenses`, with omitted lines, assumptions, open questions, the account, and the
 * reason for each unreadable row. The database checks currencies, date limits and duplicates.
 */
import type { Said } from "../words/message.ts";
import { proveBalances, type ProvenBalances } from "./balances.ts";
import type { Question } from "./conventions.ts";
import type { Mapping } from "./find_columns.ts";
import { FIELDS } from "./header_words.ts";
import { readFormat } from "./formats/mod.ts";
import { isCode } from "./money_text.ts";
import { type Settled, settleLines } from "./settle_lines.ts";
import { oneLine, shorten } from "./shorten.ts";
import { type Account, type ImportProblem, MAX_ROWS, type Statement } from "./statement.ts";
import { writeRows, type WrittenRows } from "./write_rows.ts";

export { MAX_ROWS, MAX_UPLOADED_ROWS } from "./statement.ts";
export type { Account, ImportProblem } from "./statement.ts";
export type { BadRow, ImportRow, LeftOutRow } from "./write_rows.ts";
export type { Mapping } from "./find_columns.ts";

export interface ReadImport extends Omit<WrittenRows, "brokenLinks">, ProvenBalances {
  /** The file's account or card. */
  account?: Account;
  /** Unproven conventions. The mapping argument of the same name settles each. */
  questions: Question[];
  /** Possible currencies of rows without one, by the format or its language. */
  suggests?: string[];
  /** The header line or the format, under which the account remembers answers. */
  header: string;
  /**
   * The description of the reading: column names, delimiter, conventions. `ignored` lists unused columns; `assumed`
   * lists the assumptions, as `Said`.
   */
  mapping: Record<string, unknown>;
}

/**
 * @param latest the last day that a row may have, YYYY-MM-DD.
 * @param options.mostRows the limit; files with more rows are refused.
 * @param options.learned a person's answers about an earlier file of the account with the same header line. Its columns
 * apply unless the mapping names others. Its conventions only answer questions, because a file may prove its own.
 * @param options.home the currency of lines without one, whose decimals are known.
 */
export function readImport(
  text: string,
  mapping: Mapping = {},
  latest?: string,
  { mostRows = MAX_ROWS, learned = {}, home }: { mostRows?: number; learned?: Mapping; home?: string | undefined } = {},
): ReadImport | ImportProblem {
  const columns = pick(learned, FIELDS.filter((field) => mapping[field] === undefined));
  const statement = readFormat(text, { ...columns, ...mapping }, mostRows);
  if ("code" in statement) return showBeginning(statement, text);
  // A script or a country with a single currency also determines the number of decimals.
  const [only, ...others] = statement.suggests ?? [];
  const { settled, answered } = settle(statement, {
    ...{ mapping, learned, latest },
    home: home ?? (others.length === 0 ? only : undefined),
  });
  const { brokenLinks, ...written } = writeRows(settled);
  if (written.rows.length === 0 && written.rows_bad.length === 0) {
    const { left_out, leftOutRows } = written;
    const { questions } = settled;
    // With the opposite sign, the lines may be spending.
    if (questions.some(({ id }) => id === "negative_is_expense")) {
      const asks = { header: headerOf(statement), ...statement.account && { account: statement.account } };
      return { code: "needs_answer.import", params: { details: { questions, left_out } }, field: "mapping", asks };
    }
    // Keeps income, transfers and their balance, even without spending.
    if (leftOutRows.length === 0) {
      return { code: "invalid_argument.nothing_to_import", params: { details: { left_out } }, field: "csv" };
    }
  }
  const proven = proveBalances(statement, settled);
  const account = accountOf(statement, settled);
  const assumed: Said[] = [...statement.assumed ?? []];
  if (typeof proven.balance_proof === "object") {
    assumed.push({ code: "balance_differs", params: { ...proven.balance_proof } });
  }
  const remembered = { ...columns, ...answered };
  if (Object.keys(remembered).length > 0) assumed.push({ code: "remembered", params: { remembered } });
  // Import the expense without its broken link.
  if (brokenLinks > 0) {
    const column = shorten(String(statement.mapping.url), 40);
    assumed.push({ code: "links_left_out", params: { count: brokenLinks, column } });
  }
  return {
    ...written,
    ...proven,
    ...(account && { account }),
    questions: settled.questions,
    ...(statement.suggests?.length && { suggests: statement.suggests }),
    header: headerOf(statement),
    mapping: { ...statement.mapping, ...settled.conventions, assumed },
  };
}

/** The number of lines of an unreadable file that an error shows. */
const [SHOWN_LINES, SHOWN_LETTERS] = [3, 80];
const NOT_READ = /\.(column_unclear|file_without_rows|file_broken)$/;

/** The first lines show which one the reader took for the header. */
function showBeginning(problem: ImportProblem, text: string): ImportProblem {
  if (!NOT_READ.test(problem.code)) return problem;
  const lines = text.slice(0, 2000).split(/[\r\n]+/).map((line) => shorten(oneLine(line), SHOWN_LETTERS)).filter(
    Boolean,
  );
  return { ...problem, params: { ...problem.params, begins: lines.slice(0, SHOWN_LINES) } };
}

const headerOf = ({ header, mapping }: Statement): string => header ?? String(mapping.format);

const pick = (from: Mapping, keys: readonly (keyof Mapping)[]): Mapping =>
  Object.fromEntries(keys.flatMap((key) => from[key] === undefined ? [] : [[key, from[key]]]));

/** Applies earlier answers until they answer no remaining question, because a decimal sign may prove a direction. */
function settle(
  statement: Statement,
  { mapping, learned, ...given }: {
    mapping: Mapping;
    learned: Mapping;
    latest: string | undefined;
    home: string | undefined;
  },
): { settled: Settled; answered: Mapping } {
  let answered: Mapping = {};
  for (;;) {
    const settled = settleLines(statement, { ...mapping, ...answered }, given);
    const more = pick(learned, settled.questions.map(({ id }) => id));
    if (Object.keys(more).length === 0) return { settled, answered };
    answered = { ...answered, ...more };
  }
}

/** The reader's result, if its lines have a single currency. */
function accountOf({ account }: Statement, { lines }: Settled): Account | undefined {
  if (!account || account.currency) return account;
  const currencies = new Set(lines.map(({ currency }) => currency ?? ""));
  const [currency] = currencies;
  return currency && currencies.size === 1 && isCode(currency) ? { ...account, currency } : account;
}
