/**
 * How the hot reads are planned where there is much to read: no table is read from end to end, and the rows that are touched follow what was
 * asked, not what there is. Judged by what the server counts, which nested plans cannot hide from, as an EXPLAIN of the outer call would.
 */
import { assert, assertEquals } from "@std/assert";
import { buildLargeOrganization, HOT_READS, LARGE, readAs } from "../../bench/large_organization_reads.ts";
import { openDatabase, type TestDatabase } from "../_support/database.ts";

const PAYMENTS = 60_000;
const BILLS = 500;
/** Of each table, in one call: every bill a few times, a month of payments and what belongs to them. */
const MOST_ROWS = 8 * BILLS + 4 * PAYMENTS / 60;

interface Reads {
  name: string;
  scans: number;
  rows: number;
}

async function counted(database: TestDatabase): Promise<Reads[]> {
  await database.query("select pg_stat_force_next_flush()");
  return await database.query<Reads>(
    `select relname as name, seq_scan::int as scans, (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
     from pg_stat_user_tables where schemaname = 'app' and relname in ('expenses', 'expense_occurrences', 'payments') order by 1`,
  );
}

Deno.test("hot reads of a large organization scan no table", async (t) => {
  const database = await openDatabase();
  try {
    await buildLargeOrganization(database, { payments: PAYMENTS, bills: BILLS });
    await t.step("test of the test: a scan is counted", async () => {
      const before = await counted(database);
      await database.query("select sum(amount_minor) from app.payments");
      const [, , { scans }] = await counted(database) as [Reads, Reads, Reads];
      assert(scans > before[2]!.scans);
    });
    const rows = Array.from({ length: 200 }, (_, line) => ({
      line,
      name: `Row ${line}`,
      amount: "4.50",
      date: `2026-11-${10 + line % 10}`,
    }));
    const preview: typeof HOT_READS[number] = ["import_expenses", { rows, rows_bad: [], mapping: {}, warnings: [] }];
    const states: typeof HOT_READS = [["list_bills", { status: "all", state: "due" }], ["list_bills", {
      due_within_days: 366,
    }], ["review_bills", {}]];
    for (const [tool, args] of [...HOT_READS, ...states, preview]) {
      await t.step(`${tool} ${JSON.stringify(args).slice(0, 60)}`, async () => {
        const before = await counted(database);
        assertEquals((await readAs(database, LARGE, tool, args)).ok, true);
        const after = await counted(database);
        const total = (reads: Reads[]) => reads.reduce((sum, { rows }) => sum + rows, 0);
        assert(total(after) > total(before), "nothing was counted");
        for (const [index, { name, scans, rows }] of after.entries()) {
          assertEquals(scans - before[index]!.scans, 0, `${name} was read from end to end`);
          const read = rows - before[index]!.rows;
          assert(read <= MOST_ROWS, `${read} rows of ${name} were read`);
        }
      });
    }
  } finally {
    await database.close();
  }
});
