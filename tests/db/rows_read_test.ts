/**
 * Counts the rows that frequent calls read, in an organization of 2,000 payments and 50 bills. On the embedded
 * PostgreSQL, the counts are the same on any machine. A server's autovacuum gathers statistics at any moment, which
 * changes plans, so on a server `tests/pg/plans.ts` checks the plans themselves. `deno task bench -- --sql` measures
 * the time.
 */
import { assert, assertEquals } from "@std/assert";
import { buildLargeOrganization, LARGE, readAs, readWithin } from "../../bench/large_organization_reads.ts";
import type { Session } from "../../local/database/sql.ts";
import { sharedDatabase } from "../_support/database.ts";
import { rolledBack } from "../_support/tap.ts";

/** Rows of all our tables, read by scans and by indexes, once plans are stable. */
const LIMITS: [tool: string, args: Record<string, unknown>, rows: number][] = [
  ["get_context", {}, 66],
  ["list_expenses", { limit: 10 }, 80],
  // The active bills by their dates around the day and by their names, and the payments of the day.
  ["log_expenses", { items: [{ name: "Lunch", amount: "14.50", date: "2026-11-19" }] }, 285],
  ["list_bills", {}, 1090],
  ["summarize_spending", { period: "last_month" }, 60],
  // The bills that were paid near the three borders of the months, too.
  ["summarize_spending", { period: "last_month", compare: "previous_period" }, 275],
  // All bills with their dates, and the payments of half a year without a statement.
  ["forecast", {}, 4000],
];
/** A session plans its first calls again, and reads statistics for those plans. */
const WARM = 7;
const LEAST = 0.8;

async function rowsRead(session: Session): Promise<number> {
  const [row] = await session.query<{ rows: number }>(
    `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
     from pg_stat_xact_user_tables where schemaname in ('app', 'identity', 'oauth', 'billing')`,
  );
  return row!.rows;
}

const isServer = Boolean(Deno.env.get("TEST_DATABASE_URL"));

const database = await sharedDatabase();

Deno.test.beforeAll(async () => {
  if (isServer) return;
  await buildLargeOrganization(database, { payments: 2000, bills: 50, months: 24 });
  const items = [{ name: "Giro", kind: "balance", amount: "1000" }];
  assertEquals((await readAs(database, LARGE, "log_expenses", { items })).ok, true);
});

for (const [tool, args, most] of LIMITS) {
  Deno.test({ name: `rows read by ${tool} ${JSON.stringify(args)}`, ignore: isServer }, async () => {
    let rows = 0;
    for (let call = 0; call <= WARM; call++) {
      rows = await rolledBack(database, async (session) => {
        const before = await rowsRead(session);
        assertEquals((await readWithin(session, LARGE, tool, args)).ok, true);
        return await rowsRead(session) - before;
      });
    }
    assert(rows <= most, `${rows} rows, at most ${most}`);
    assert(rows >= most * LEAST, `${rows} rows: lower the limit of ${most}`);
  });
}
