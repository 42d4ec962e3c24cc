import { assert, assertEquals } from "@std/assert";
import type { Session } from "../../local/database/sql.ts";
import { sharedDatabase, type TestDatabase } from "../_support/database.ts";
import { assertTap, rolledBack, runTap } from "../_support/tap.ts";
import { accessTests, CALLERS, completenessTests, parseMatrix } from "./access_matrix.ts";

const read = (name: string) => Deno.readTextFile(new URL(name, import.meta.url));
const matrix = parseMatrix(await read("access_matrix.md"));
const probe = await read("fixtures/access_probe.sql");
const subject = await read("fixtures/access.sql");
const other = await read("fixtures/access_other.sql");
const roles = await read("fixtures/access_roles.sql");
const KEPT = {
  "private rows": { cells: matrix.private, sql: await read("fixtures/access_private.sql") },
  "rows of others": { cells: matrix.ownOnly, sql: await read("fixtures/access_own_only.sql") },
};

/** Both organizations and the probe, in a transaction that is rolled back. */
function withRows<Result>(
  database: TestDatabase,
  work: (session: Session) => Promise<Result>,
  more = "",
): Promise<Result> {
  return rolledBack(database, async (session) => {
    await session.exec(`${probe} ${subject} ${more} select pg_temp.note_subject_rows(); ${other} ${roles}`);
    return await work(session);
  });
}

const database = await sharedDatabase();

Deno.test("access matrix: has a cell for every caller", () => {
  const kept = ["manager", "member", "opened", "owner", "reading", "viewer"];
  const all = Object.keys(CALLERS).filter((name) => name !== "opened").toSorted();
  for (const cells of matrix.tables.values()) assertEquals(Object.keys(cells).toSorted(), all);
  for (const table of [matrix.private, matrix.ownOnly]) {
    for (const cells of table.values()) assertEquals(Object.keys(cells).toSorted(), kept);
  }
});
Deno.test("access matrix: is complete", () =>
  withRows(database, async (session) => assertTap(await runTap(session, completenessTests(matrix)))));
for (const [table, cells] of matrix.tables) {
  Deno.test(`access matrix: ${table}`, () =>
    withRows(database, async (session) => assertTap(await runTap(session, accessTests(table, cells)))));
}
for (const [what, { cells, sql }] of Object.entries(KEPT)) {
  for (const [table, expected] of cells) {
    Deno.test(`access matrix: ${what} of ${table}`, () =>
      withRows(database, async (session) => {
        assertTap(await runTap(session, accessTests(table, expected)));
      }, sql));
  }
}

// Tests of the test: plants each mistake that it must detect.
const planted = [
  {
    what: "a policy removed",
    sql: `drop policy "Members can use their organization's payments" on app.payments`,
    fails: "member: select app.payments",
  },
  {
    what: "a policy too wide",
    sql: "create policy planted on app.payments for delete to authenticated using (true)",
    fails: "other: delete app.payments",
  },
  {
    what: "a grant to anon",
    sql: "grant usage on schema app to anon; grant select on app.fx_rates to anon",
    fails: "anon: select app.fx_rates",
  },
  {
    what: "row-level security off",
    sql: "alter table app.payments disable row level security",
    fails: "removed: select app.payments",
  },
];
for (const { what, sql, fails } of planted) {
  Deno.test(`access matrix: fails with ${what}`, () =>
    withRows(database, async (session) => {
      await session.exec(sql);
      const table = fails.split(" ").at(-1)!;
      const assertions = await runTap(session, accessTests(table, matrix.tables.get(table)!));
      assert(assertions.some(({ ok, description }) => !ok && description === fails), JSON.stringify(assertions));
    }));
}
const UNLISTED = {
  "an unlisted table": { sql: "create table app.planted (id int)", fails: "the matrix lists every table" },
  "an unlisted function that runs as its owner": {
    sql: "create function app.planted() returns int language sql security definer as 'select 1'",
    fails:
      "the matrix lists every function that signed-in people may execute, besides those of app that run as their caller",
  },
  "an unlisted function that only the service may execute": {
    sql: "revoke all on function app.list_payees from authenticated",
    fails: "the matrix lists every function of app that runs as its caller and is only for the service",
  },
};
for (const [what, { sql, fails }] of Object.entries(UNLISTED)) {
  Deno.test(`access matrix: fails with ${what}`, () =>
    withRows(database, async (session) => {
      await session.exec(sql);
      const assertions = await runTap(session, completenessTests(matrix));
      assertEquals(assertions.filter(({ ok }) => !ok).map(({ description }) => description), [fails]);
    }));
}
