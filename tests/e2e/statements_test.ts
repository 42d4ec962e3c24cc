/**
 * Exports that were once imported inverted, doubled or with rows other than spending: the preview asks nothing, and
 * the books match the bank to the cent.
 */
import { assertEquals, assertMatch } from "@std/assert";
import { decodeFile } from "../../shared/import/decode_file.ts";
import { sharedDatabase } from "../_support/database.ts";
import { type Json, newMember } from "./connector_harness.ts";

const database = await sharedDatabase();

const STATEMENTS = new URL("../fixtures/statements/", import.meta.url);
const readStatement = async (path: string) => decodeFile(await Deno.readFile(new URL(path, STATEMENTS))).text;

const newPerson = () => newMember(database, { clock: () => new Date("2026-11-23T09:00:00Z") });

/** Rows without a currency are in the base currency. */
const inBase = ({ "": unnamed, ...totals }: Record<string, string>) => ({
  ...totals,
  ...(unnamed && { EUR: unnamed }),
});

const SEEN_WRONG = [
  ...["ing-nl", "ezbookkeeping", "actual", "amex-us", "revolut", "n26", "wise", "paypal", "sparkasse", "firefly-iii"],
];
for (const folder of SEEN_WRONG) {
  Deno.test(`a statement is imported correctly and once: ${folder}`, async () => {
    const { call } = await newPerson();
    const { files } = JSON.parse(await Deno.readTextFile(new URL(`${folder}/expected.json`, STATEMENTS)));
    const [file, { totals, left_out }] = Object.entries<Json>(files).find(([name]) => name.startsWith("typical"))!;
    const csv = await readStatement(`${folder}/${file}`);
    const { envelope: { data: { preview } } } = await call("import_expenses", { csv });
    assertEquals([preview.questions, preview.rows_bad_count], [[], 0]);
    assertEquals(Object.fromEntries(preview.left_out.map(({ kind, count }: Json) => [kind, count])), left_out);
    const { envelope } = await call("import_expenses", { ...preview.commit_with, create_missing_categories: true });
    assertEquals(envelope.ok, true, JSON.stringify(envelope.error));
    assertEquals((await call("list_expenses")).envelope.totals_by_currency, inBase(totals));
    // The same file again adds nothing.
    const { envelope: { data: again } } = await call("import_expenses", { csv });
    assertEquals([again.preview.rows_ok, again.preview.duplicates_count], [0, preview.rows_ok]);
  });
}

Deno.test("subscriptions of Wallos are refused with a hint to add them as bills", async () => {
  const { call } = await newPerson();
  const csv =
    "Name,Payment Cycle,Next Payment,Renewal,Category,Payment Method,Price\nNetflix,Monthly,2026-12-05,,,Visa,15.99";
  const { envelope: { ok, error } } = await call("import_expenses", { csv });
  assertEquals(ok, false);
  assertMatch(`${error.message} ${error.hint}`, /add_bill/);
});

Deno.test("an account with more money in than out raises a question, and its signs are not inverted", async () => {
  const { call } = await newPerson();
  const csv =
    "Date,Description,Amount\n2026-11-02,Client A,3000.00\n2026-11-03,Hosting,-20.00\n2026-11-05,Client B,1800.00";
  const { envelope: { data: { preview } } } = await call("import_expenses", { csv });
  assertEquals(preview.questions.map(({ id }: Json) => id), ["negative_is_expense"]);
  const refused = await call("import_expenses", preview.commit_with);
  assertEquals(refused.envelope.error.code, "needs_answer");
  const answered = await call("import_expenses", { csv, mapping: { negative_is_expense: true } });
  const { commit_with, left_out } = answered.envelope.data.preview;
  assertEquals(left_out.map(({ message }: Json) => message), [
    "2 incoming payments (recorded as income, not as spending)",
  ]);
  assertEquals((await call("import_expenses", commit_with)).envelope.ok, true);
  assertEquals((await call("list_expenses")).envelope.totals_by_currency, { EUR: "20.00" });
});
