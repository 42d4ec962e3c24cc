/**
 * Query plans of the frequent reads on much data: no full table scan, and the number of rows depends on the request,
 * not on the size of the books. The server's counters include nested plans, unlike an EXPLAIN of the outer call.
 */
import { importOf } from "../_support/import_args.ts";
import { assert, assertEquals } from "@std/assert";
import { buildLargeOrganization, HOT_READS, LARGE, readWithin } from "../../bench/large_organization_reads.ts";
import type { Session } from "../../local/database/sql.ts";
import { sharedDatabase, type TestDatabase } from "../_support/database.ts";

const PAYMENTS = 60_000;
const BILLS = 500;
/** Rows per table, in one call: every bill a few times, and each month of payments four times; reviews read two years. */
const maxRows = (months: number) => 8 * BILLS + 4 * months * PAYMENTS / 60;

interface Reads {
  name: string;
  scans: number;
  rows: number;
}

/** A session's reads during some work. The view excludes other sessions' counts and already reported ones. */
async function counted(database: TestDatabase, work: (session: Session) => Promise<unknown>): Promise<Reads[]> {
  const count = (session: Session) =>
    session.query<Reads>(
      `select relname as name, seq_scan::int as scans, (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
       from pg_stat_xact_user_tables where schemaname = 'app' and relname in ('expenses', 'expense_occurrences', 'payments') order by 1`,
    );
  return await database.transaction(async (session) => {
    const before = await count(session);
    await work(session);
    const after = await count(session);
    return after.map(({ name, scans, rows }, index) => ({
      name,
      scans: scans - before[index]!.scans,
      rows: rows - before[index]!.rows,
    }));
  });
}

const database = await sharedDatabase();

Deno.test.beforeAll(() => buildLargeOrganization(database, { payments: PAYMENTS, bills: BILLS }));

Deno.test("a frequent read of a large organization scans no table, and a planted scan is counted", async () => {
  const reads = await counted(database, (session) => session.query("select sum(amount_minor) from app.payments"));
  assertEquals(reads.map(({ scans }) => scans), [0, 0, 1]);
});
const rows = Array.from({ length: 200 }, (_, line) => ({
  line: line + 2,
  name: `Row ${line}`,
  amount: "4.50",
  date: `2026-11-${10 + line % 10}`,
}));
const preview: typeof HOT_READS[number] = ["import_expenses", importOf(rows)];
const states: typeof HOT_READS = [["list_bills", { status: "all", state: "due" }], ["list_bills", {
  due_within_days: 366,
}], ["review_bills", {}]];
for (const [tool, args] of [...HOT_READS, ...states, preview]) {
  Deno.test(`a frequent read of a large organization scans no table: ${tool} ${JSON.stringify(args).slice(0, 60)}`, async () => {
    const reads = await counted(
      database,
      async (session) => assertEquals((await readWithin(session, LARGE, tool, args)).ok, true),
    );
    assert(reads.some(({ rows }) => rows > 0), "nothing was counted");
    for (const { name, scans, rows } of reads) {
      assertEquals(scans, 0, `full scan of ${name}`);
      assert(rows <= maxRows(tool === "review_bills" ? 24 : 1), `${rows} rows of ${name} were read`);
    }
  });
}
