/**
 * Files of tests/fixtures/unknown_statements, modeled on public bug reports. Each is read as in its expected.json,
 * possibly after questions, or refused for a good reason. The test prints its steps as a table.
 */
import { assertMatch } from "@std/assert";
import { type Mapping, readImport } from "../../../shared/import/read_import.ts";
import { readUpload } from "../../../shared/import/read_upload.ts";
import { fromUnits, toUnits } from "../../../shared/import/units.ts";

interface Expected {
  /** tests/e2e/unknown_statements_test.ts tests a case that is a list of calls. */
  calls?: unknown[];
  via: "csv" | "upload";
  file: string;
  default_currency: string | null;
  rows: { date: string; amount: string; currency: string; text: string }[];
  totals: Record<string, string>;
  left_out: Record<string, number>;
  questions_excused: string[];
  refusal_excused: boolean;
  also_accepted: Record<string, string>[];
  answers: Mapping;
}

const FOLDER = new URL("../../fixtures/unknown_statements/", import.meta.url);
const LATEST = "2026-11-27";

const textOf = (bytes: Uint8Array, { via, file }: Expected): string => {
  const read = via === "upload" ? readUpload(bytes, file) : { text: new TextDecoder().decode(bytes) };
  if ("code" in read) throw new Error(read.code);
  return read.text;
};

/** Every reading of the whole file: the rows, their totals, and the omitted lines. */
function outcomeOf(text: string, expected: Expected, mapping: Mapping = {}) {
  const result = readImport(text, mapping, LATEST);
  if ("code" in result) return { refused: result.code };
  const home = expected.default_currency ?? "EUR";
  const totals = new Map<string, bigint>();
  const rows = result.rows.map((row) => {
    const { amount, currency = home } = row;
    const units = toUnits(amount) * (row.is_refund ? -1n : 1n);
    totals.set(currency, (totals.get(currency) ?? 0n) + units);
    return { ...row, currency, amount: fromUnits(units) };
  });
  return {
    asked: result.questions.map(({ id }) => id),
    rows,
    bad: result.rows_bad,
    totals: Object.fromEntries([...totals].map(([currency, sum]) => [currency, Number(fromUnits(sum))])),
    left: Object.fromEntries(result.left_out.map(({ kind, count }) => [kind, count])),
  };
}

function judge(text: string, expected: Expected): string {
  let read = outcomeOf(text, expected);
  const hasAnswers = Object.keys(expected.answers).length > 0;
  if (read.refused !== undefined && !expected.refusal_excused) return `refused with ${read.refused}`;
  if (read.refused !== undefined && !hasAnswers) return "refused";
  let how = "right";
  if (read.refused !== undefined || read.asked!.length > 0) {
    const needless = (read.asked ?? []).filter((id) => !expected.questions_excused.includes(id));
    if (needless.length > 0) return `asks ${needless}`;
    if (!hasAnswers) return "asked";
    how = "asked then right";
    read = outcomeOf(text, expected, expected.answers);
    if (read.refused !== undefined) return `refused with ${read.refused}`;
  }
  const plain = (totals: Record<string, string>) =>
    Object.fromEntries(Object.entries(totals).map(([currency, sum]) => [currency, Number(sum)]));
  const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  if (!same(read.totals, plain(expected.totals))) {
    return expected.also_accepted.some((totals) => same(read.totals, plain(totals)))
      ? how
      : `totals ${JSON.stringify(read.totals)} ${JSON.stringify(read.left)}`;
  }
  if (read.bad!.length > 0) return `bad rows ${JSON.stringify(read.bad)}`;
  const missing = expected.rows.filter(({ date, amount, currency, text }) =>
    !read.rows!.some((row) =>
      row.date === date && Number(row.amount) === Number(amount) && row.currency === currency &&
      `${row.name} ${row.payee} ${row.note}`.toLowerCase().includes(text.toLowerCase())
    )
  );
  if (missing.length > 0) return `missing ${JSON.stringify(missing)} of ${JSON.stringify(read.rows)}`;
  const kinds = Object.keys(expected.left_out).filter((kind) => !read.left![kind]);
  return kinds.length > 0 ? `not left out: ${kinds}, but ${JSON.stringify(read.left)}` : how;
}

for (const { name } of [...Deno.readDirSync(FOLDER)].toSorted((a, b) => a.name < b.name ? -1 : 1)) {
  const at = new URL(`${name}/`, FOLDER);
  const expected: Expected = JSON.parse(await Deno.readTextFile(new URL("expected.json", at)));
  if (expected.calls) continue;
  Deno.test(`a statement of an unknown layout is read correctly, questioned or refused: ${name}`, async () => {
    const outcome = judge(textOf(await Deno.readFile(new URL(expected.file, at)), expected), expected);
    assertMatch(outcome, /^(right|asked|asked then right|refused)$/);
  });
}
