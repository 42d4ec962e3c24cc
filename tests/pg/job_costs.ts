/**
 * The reminders job's reads depend on due dates, not on all bills. The test counts the pages that the job touches for
 * the same due bills among ten times as many others. Counts are the same on any machine; the benchmark measures time
 * (bench/sql/roll_bills.ts).
 */
import { assert, assertEquals } from "@std/assert";
import { postgresDatabase } from "../../local/database/postgres.ts";
import type { SqlDatabase } from "../../local/database/sql.ts";
import { openDatabase } from "../_support/database.ts";
import { pagesOf, rolledBack } from "../_support/tap.ts";
import { withParts } from "../_support/new_database.ts";

const [FEW, MANY] = [10_000, 100_000];
const AT = "2026-11-20T08:00:00Z";
/** A tree of ten times as many entries is at most one level deeper. */
const MAX_GROWTH = 1.5;

const ROLL = `select sum((public.roll_bills($1, page) ->> 'advanced')::int)::int as done
  from jsonb_array_elements(public.find_rolling_pages($1, 2000)) as page`;
const COLLECT = "select (public.collect_reminders($1, null, 5000) ->> 'reminders')::int as done";

const fill = await Deno.readTextFile(new URL("../../bench/sql/bills.sql", import.meta.url));

/** Creates this many bills. The first `FEW` are due now, the others in two months. */
async function openBills(bills: number): Promise<{ admin: SqlDatabase; close(): Promise<void> }> {
  const server = Deno.env.get("TEST_DATABASE_URL")!;
  const database = await openDatabase(server);
  const [row] = await database.query<{ name: string }>("select current_database() as name");
  const admin = postgresDatabase(withParts(server, { database: row!.name, role: "supabase_admin" }), { max: 1 });
  await admin.exec(fill.replaceAll(":bills", String(bills)));
  await admin.exec(`
    set session_replication_role = replica;
    update app.expenses set next_due = next_due + 60 where id > 'bill_' || lpad('${FEW}', 12, '0');
    update app.expense_occurrences set scheduled_on = scheduled_on + 60, due_on = due_on + 60 where expense_id > 'bill_' || lpad('${FEW}', 12, '0');
    set session_replication_role = origin;`);
  await admin.exec("vacuum analyze");
  return {
    admin,
    async close() {
      await admin.close();
      await database.close();
    },
  };
}

interface Counted {
  done: number;
  pages: number;
  /** Number of full scans of bills or their dates. */
  scans: number;
}

// This view excludes other sessions' counts, and counts that this session has already reported.
const SCANS = `select sum(seq_scan)::int as scans from pg_stat_xact_user_tables
  where relname in ('expenses', 'expense_occurrences')`;

/** Measures the second call, because the session plans the first one. Both are rolled back. */
async function counted(database: SqlDatabase, call: string, before = "select"): Promise<Counted> {
  let pages = 0;
  for (let n = 0; n < 2; n++) {
    pages = await rolledBack(database, async (session) => {
      await session.exec(before);
      return await pagesOf(session, call.replaceAll("$1", `'${AT}'`));
    });
  }
  return await rolledBack(database, async (session) => {
    await session.exec(before);
    const scans = async () => (await session.query<{ scans: number }>(SCANS))[0]!.scans;
    const earlier = await scans();
    const [row] = await session.query<{ done: number }>(call, [AT]);
    return { pages, done: row!.done, scans: await scans() - earlier };
  });
}

const [few, many] = [await openBills(FEW), await openBills(MANY)];
Deno.test.afterAll(async () => {
  await few.close();
  await many.close();
});

for (const [name, call] of [["rolling", ROLL], ["collecting", COLLECT]] as const) {
  Deno.test(`the job's cost depends only on due dates: ${name}`, async () => {
    const [small, large] = [await counted(few.admin, call), await counted(many.admin, call)];
    assert(small.done > FEW / 50, `${small.done} were due`);
    assertEquals(large.done, small.done);
    assertEquals(large.scans, 0, "no full scan of bills or dates");
    assert(
      large.pages < small.pages * MAX_GROWTH,
      `${small.pages} pages, and ${large.pages} among ten times as many`,
    );
  });
}
Deno.test("the job's cost depends only on due dates, and the cost of a planted scan on all bills", async () => {
  const scan = "select count(*)::int as done from app.expenses where next_due < '2026-11-20' and $1 <> ''";
  const [small, large] = [await counted(few.admin, scan), await counted(many.admin, scan)];
  assert(large.scans > 0);
  assertEquals(large.done, small.done);
  assert(large.pages > small.pages * 5);
});
Deno.test("the job's cost depends only on due dates: one owner with 90 days' notice does not widen the search for all", async () => {
  const before = await counted(many.admin, COLLECT);
  const after = await counted(
    many.admin,
    COLLECT,
    "update identity.profiles set default_lead_days = 90 where email = 'owner1@example.com'",
  );
  assert(after.done > before.done, "that owner's bill is due");
  assert(after.pages < before.pages * 1.05, `${before.pages} pages, then ${after.pages}`);
});
