/**
 * The time between `db push` and `functions deploy`, and between the two steps of a rollback: old code runs on the new
 * schema, and new code on the old one. The test plants the future version and restores old versions from dumps of the
 * releases and the current state.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { applyMigrations, type Migration, readMigrations } from "../../local/database/migrations.ts";
import { postgresDatabase } from "../../local/database/postgres.ts";
import { ROOT } from "../../local/sql/schema_files.ts";
import { createDatabase } from "../../shared/db/client.ts";
import { AppError } from "../../shared/errors.ts";
import { startCluster } from "../_support/cluster.ts";
import { migrationsUnderTest } from "../_support/database.ts";
import { openLite } from "../_support/lite.ts";
import { inGroups } from "../_support/test_files.ts";
import {
  callsIn,
  type Functions,
  functionsOf,
  problemOf,
  type StoreCall,
  storeCalls,
} from "../_support/store_calls.ts";
import { migrationsIn } from "./checksums.ts";
import { migrated, restored } from "./databases.ts";
import { differenceOf } from "./difference.ts";
import { decompress, dumpWithBooks, RELEASES } from "./release.ts";

const PLANTED = new URL("planted/", import.meta.url);

const cluster = await startCluster();
Deno.test.afterAll(() => cluster.stop());

const today = await migrationsIn(ROOT);
const planted = await readMigrations(PLANTED);

/** Databases as in backups of releases, by schema version; the current state is the latest. */
async function dumps(): Promise<Map<number, string>> {
  const kept = new Map<number, string>();
  const folder = new URL(RELEASES, ROOT);
  const names = await Array.fromAsync(Deno.readDir(folder), ({ name }) => name).catch(() => []);
  for (const name of names.toSorted()) {
    kept.set(Number.parseInt(name), await decompress(await Deno.readFile(new URL(name, folder))));
  }
  if (!kept.has(today.length)) kept.set(today.length, await dumpWithBooks(cluster, ROOT));
  return kept;
}
const versions = await dumps();

async function on<Result>(url: string, work: (database: ReturnType<typeof postgresDatabase>) => Promise<Result>) {
  const database = postgresDatabase(url, { max: 1 });
  return await work(database).finally(() => database.close());
}

/** All rows that people wrote, without the empty columns that a migration may add. */
const BOOKS = `select jsonb_agg(jsonb_strip_nulls(to_jsonb(e)) order by e.id) as expenses,
  (select jsonb_agg(jsonb_strip_nulls(to_jsonb(p)) order by p.id) from app.payments as p) as payments
  from app.expenses as e`;

/** PostgreSQL stores this body parsed, and prints it slightly differently after rereading its own output. */
const KEPT_PARSED = /^\{"verb":"set","id":\{"kind":"function",.*"attr":"def".*(BEGIN ATOMIC|\\nRETURN )/;

for (const [version, backup] of versions) {
  Deno.test(`a backup of schema ${version} upgrades to the next version, with its books, once`, async () => {
    const url = await restored(cluster, backup);
    const to: Migration[] = [...today, ...planted];
    await on(url, async (database) => {
      const [before] = await database.query(BOOKS);
      assert(before?.expenses, "the dump has no books");
      assertEquals(await applyMigrations(database, to), to.length - version);
      assertEquals(await database.query(BOOKS), [before]);
      assertEquals(await applyMigrations(database, to), 0);
      assertEquals(await applyMigrations(database, today), 0, "the old code leaves a newer database alone");
    });
    const { lines } = await differenceOf({ from: url, to: await migrated(cluster, to) });
    assertEquals(lines.filter((line) => !KEPT_PARSED.test(line)), [], "an upgraded database is like a new one");
  });
}

Deno.test("PGlite upgrades to the next version as PostgreSQL does", async () => {
  const { database, close } = await openLite({ corrected: false, prepare: "" });
  try {
    assertEquals(await applyMigrations(database, [...await migrationsUnderTest(), ...planted]), planted.length);
    assertEquals(await database.query("select public.ping()"), [{ ping: { schema: 99 } }]);
  } finally {
    await close();
  }
});

/** Tests that the old code works: its calls, every API function, the tools, and the functions' results. */
const OLD_CODE = [
  "tests/db/store_calls_test.ts",
  "tests/db/call_function_test.ts",
  "tests/db/log_expenses_test.ts",
  "tests/db/change_expenses_test.ts",
  "tests/db/undo_change_test.ts",
  "tests/db/import_expenses_test.ts",
  "tests/db/update_bill_dates_test.ts",
  "tests/db/update_bill_fields_test.ts",
  "tests/db/update_bill_price_test.ts",
  "tests/db/update_bill_provider_test.ts",
  "tests/db/update_bill_schedule_test.ts",
  "tests/db/mark_bill_paid_test.ts",
  "tests/db/billing_events_test.ts",
  "tests/db/billing_features_test.ts",
  "tests/db/billing_parked_test.ts",
  "tests/db/billing_transitions_test.ts",
  "tests/db/billing_what_counts_test.ts",
  "tests/db/reminders_bills_test.ts",
  "tests/db/reminders_owners_test.ts",
  "tests/db/reminders_runs_test.ts",
];

Deno.test("the old code works on the new schema: between db push and deployment, and after a rollback", async () => {
  const files = OLD_CODE.slice(0, Number(Deno.env.get("OLD_CODE_FILES") ?? OLD_CODE.length));
  const { failed, passed } = await testOn(PLANTED, files);
  assertEquals(failed, "");
  assert(passed > 2 * files.length, `only ${passed} tests ran`);
});

Deno.test("test of the test: detects a schema that removes a function the old code calls", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/20990101000000_contract.sql`, "drop function public.ping();");
  const { failed } = await testOn(new URL(`file://${folder}/`), ["tests/db/store_calls_test.ts"]);
  assert(failed.includes("there is no function public.ping"), failed);
  await Deno.remove(folder, { recursive: true });
});

/** @returns the tests' output if one fails, otherwise undefined */
async function testOn(further: URL, files = OLD_CODE): Promise<{ failed: string; passed: number }> {
  const groups = await inGroups(files, 5);
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "--lock=tests/deno.lock", "--quiet", "--no-prompt", "--no-check", "-A", ...groups.args],
    cwd: ROOT,
    env: {
      NO_COLOR: "1",
      TEST_DATABASE_URL: cluster.urlOf("postgres", "supabase_closed"),
      TEST_FURTHER_MIGRATIONS: further.href,
    },
  }).output();
  await groups.remove();
  const output = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  return { failed: success ? "" : output, passed: Number(/(\d+) passed/.exec(output)?.[1]) };
}

/** Calls in the code that an older schema's functions would not understand. */
const problemsOn = (functions: Functions, calls: readonly StoreCall[]) =>
  calls.filter(({ name }) => functions.has(name)).flatMap((call) => problemOf(call, functions) ?? []);

for (const [version, backup] of versions) {
  Deno.test(`the code's calls fit the functions of schema ${version}`, async () => {
    const functions = await on(await restored(cluster, backup), functionsOf);
    assert(functions.size > 20);
    assertEquals(problemsOn(functions, await storeCalls()), []);
  });
}

Deno.test("test of the test: an argument that the old schema lacks is found, a new function is not an error", async () => {
  const functions = await on(await restored(cluster, versions.get(today.length)!), functionsOf);
  const calls = callsIn("planted_store.ts", `database.call("ping", { planted: true }); database.call("planted", {});`);
  assertEquals(problemsOn(functions, calls), ["ping takes no planted"]);
});

Deno.test("new code on the old schema returns 503 for missing features and works otherwise", async () => {
  const { app, close } = await openLite({ corrected: true, prepare: "" });
  const database = createDatabase({
    url: "http://127.0.0.1",
    key: "sb_secret_test",
    fetch: async (input, init) => await app.fetch(new Request(input, init)),
  });
  try {
    for (const [name, args] of [["planted", {}], ["ping", { planted: true }]] as const) {
      const refused = await assertRejects(() => database.call(name, args), AppError);
      assertEquals(refused.code, "unavailable", name);
    }
    assertEquals(await database.call("ping", {}), { schema: today.length });
  } finally {
    await close();
  }
});
