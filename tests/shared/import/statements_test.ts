/**
 * Every file of tests/fixtures/statements is read as in its expected.json: totals by currency, skipped rows by kind,
 * the account, its balances, without unread rows or questions. The output has a table of format and outcome.
 */
import { assertEquals } from "@std/assert";
import { totalsOf } from "../../../shared/import/left_out.ts";
import { type Account, type ImportRow, type ReadImport, readImport } from "../../../shared/import/read_import.ts";
import { fromUnits, toUnits } from "../../../shared/import/units.ts";
import { readUpload } from "../../../shared/import/read_upload.ts";

interface Expected {
  layout: string;
  /** The default for all files. */
  account?: Account;
  /** Totals of refunds are subtracted. Omits kinds without lines. */
  files: Record<
    string,
    {
      totals: Record<string, string>;
      left_out: Record<string, number>;
      left_out_totals: Record<string, Record<string, string>>;
      /** Absent if the file lacks it. */
      account?: Account;
      balances?: { opening?: string; closing?: string; currency?: string };
      balance_proof?: "proven";
      /** Each row's name, and its payee if different; for typical files. */
      names?: string[];
      questions?: string[];
      bad?: number;
    }
  >;
}

const FOLDER = new URL("../../fixtures/statements/", import.meta.url);
const LATEST = "2026-11-23";

const netOf = (rows: ImportRow[]) => {
  const spent = totalsOf(rows.filter(({ is_refund }) => !is_refund));
  const back = totalsOf(rows.filter(({ is_refund }) => is_refund));
  const net = (currency: string) => toUnits(spent[currency] ?? "0") - toUnits(back[currency] ?? "0");
  const currencies = new Set([...Object.keys(spent), ...Object.keys(back)]);
  return Object.fromEntries([...currencies].map((currency) => [currency, fromUnits(net(currency), 2)]));
};

const namesOf = (rows: ImportRow[]) =>
  rows.map(({ name, payee }) => payee && payee !== name ? `${name} | ${payee}` : name);

/** Each line of a file is reported once: as a row, as unreadable or as omitted. */
function assertLinesAreOnce({ rows, rows_bad, leftOutRows }: ReadImport) {
  const lines = [...rows, ...rows_bad, ...leftOutRows].map(({ line }) => line);
  assertEquals(new Set(lines).size, lines.length);
  for (const { text } of [...rows, ...leftOutRows]) assertEquals([text.length > 0, text.length <= 500], [true, true]);
}

const folders = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).toSorted();
for (const folder of folders) {
  const at = new URL(`${folder}/`, FOLDER);
  const { layout, account, files }: Expected = JSON.parse(await Deno.readTextFile(new URL("expected.json", at)));
  Deno.test(`every statement of ${folder} has its expected reading`, () => {
    assertEquals(
      Object.keys(files).toSorted(),
      [...Deno.readDirSync(at)].map(({ name }) => name).filter((name) => name !== "expected.json").toSorted(),
    );
  });
  for (const [file, expected] of Object.entries(files)) {
    Deno.test(`a statement is read without a question: ${folder}/${file}`, async () => {
      const uploaded = readUpload(await Deno.readFile(new URL(file, at)), file);
      const read = "text" in uploaded ? readImport(uploaded.text, {}, LATEST) : uploaded;
      if (!("rows" in read)) throw new Error(JSON.stringify(read));
      assertLinesAreOnce(read);
      assertEquals(
        {
          layout: read.mapping.layout ?? read.mapping.format ?? "XLSX",
          totals: netOf(read.rows),
          left_out: Object.fromEntries(read.left_out.map(({ kind, count }) => [kind, count])),
          left_out_totals: Object.fromEntries(
            read.left_out.flatMap(({ kind, totals }) => Object.keys(totals).length > 0 ? [[kind, totals]] : []),
          ),
          names: file.startsWith("typical") ? namesOf(read.rows) : undefined,
          questions: read.questions.map(({ id }) => id),
          bad: read.rows_bad.length,
          account: read.account,
          balances: read.balances,
          balance_proof: read.balance_proof,
          assumed: read.mapping.assumed,
        },
        {
          layout,
          names: undefined,
          questions: [],
          bad: 0,
          account,
          balances: undefined,
          balance_proof: undefined,
          assumed: [],
          ...expected,
        },
        JSON.stringify(read.rows_bad),
      );
    });
  }
}
