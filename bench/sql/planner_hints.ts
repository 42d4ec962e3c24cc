/**
 * Measures the hints to the planner: `deno run -A bench/sql/planner_hints.ts [file] [work] [bills]`. Removes every
 * planner setting, `offset 0`, `materialized` and `full` join of supabase/schemas (or of the matching files) from its
 * function in turn, and prints the slowdown as a factor. It runs on a throw-away PostgreSQL server, with one
 * organization of this many bills (default 2,000) among twelve thousand others, on tables that were never analyzed. A
 * hint that speeds up the work stays, and its comment states the factor.
 */
import { importOf } from "../../tests/_support/import_args.ts";
import { postgresDatabase } from "../../local/database/postgres.ts";
import type { Session, SqlDatabase } from "../../local/database/sql.ts";
import { readSchemaFiles } from "../../local/sql/schema_files.ts";
import { startCluster } from "../../tests/_support/cluster.ts";
import { openDatabase } from "../../tests/_support/database.ts";
import { rolledBack } from "../../tests/_support/tap.ts";
import { HINT } from "./hint.ts";
import { buildLargeOrganization, LARGE, readWithin } from "../large_organization_reads.ts";

const [path = "", wanted = "", bills = "2000"] = Deno.args;
const AT = "2026-11-20T08:00:00Z";
/** A smaller factor does not justify a line. */
const LEAST = 1.2;
const ROUNDS = 3;
const print = (line: string) => void Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));

const rows = Array.from({ length: 500 }, (_, line) => ({
  line: line + 2,
  name: `Bill ${line}`,
  amount: "4.50",
  date: `2026-11-${10 + line % 10}`,
}));
const tool = (name: string, args: Record<string, unknown>) => async (session: Session) => {
  if (!(await readWithin(session, LARGE, name, args)).ok) throw new Error(`${name} failed`);
};
const WORK: Record<string, (session: Session) => Promise<unknown>> = {
  "list_bills": tool("list_bills", {}),
  "list_bills of a week": tool("list_bills", { due_within_days: 7 }),
  "list_bills of a year": tool("list_bills", { due_within_days: 366 }),
  "list_bills by state": tool("list_bills", { status: "all", state: "overdue", limit: 100 }),
  "review_bills": tool("review_bills", {}),
  "list_expenses of a month": tool("list_expenses", { from: "2026-10-01", to: "2026-10-31" }),
  "list_expenses by words": tool("list_expenses", { query: "bill", period: "this_year" }),
  "summarize_spending of a month": tool("summarize_spending", { period: "last_month" }),
  "summarize_spending by payee": tool("summarize_spending", { period: "last_year", group_by: ["payee", "month"] }),
  "show_spending_chart": tool("show_spending_chart", { chart: "upcoming_bills" }),
  "import_expenses": tool("import_expenses", importOf(rows)),
  "roll_bills": (session) =>
    session.query(
      "select public.roll_bills($1, page) from jsonb_array_elements(public.find_rolling_pages($1, 2000)) as page",
      [AT],
    ),
  "collect_reminders": (session) => session.query("select public.collect_reminders($1, null, 5000)", [AT]),
};

interface Hint {
  place: string;
  without: string;
}

const hints: Hint[] = [];
for (const { path: file, sql: text } of await readSchemaFiles()) {
  if (!file.includes(path)) continue;
  for (const made of text.matchAll(/^create or replace function[\s\S]*?^(?:\$\$|end);$/gm)) {
    for (const hint of made[0].matchAll(HINT)) {
      const line = text.slice(0, made.index + hint.index + hint[0].search(/\S/)).split("\n").length;
      const without = made[0].slice(0, hint.index) + made[0].slice(hint.index + hint[0].length);
      hints.push({ place: `${file}:${line} ${hint[0].trim()}`, without });
    }
  }
}

const cluster = await startCluster({ settings: { shared_buffers: "1GB", jit: "off" } });
try {
  for (const analyzed of [true, false]) {
    const database = await openDatabase(cluster.urlOf("postgres", "supabase_exposed"));
    const [row] = await database.query<{ name: string }>("select current_database() as name");
    const admin = postgresDatabase(cluster.urlOf("supabase_admin", row!.name), { max: 1 });
    const others = await Deno.readTextFile(new URL("bills.sql", import.meta.url));
    await admin.exec("alter system set autovacuum = off");
    await admin.exec("select pg_reload_conf()");
    await buildLargeOrganization(database, { payments: 60 * Number(bills), bills: Number(bills) });
    await admin.exec(others.replaceAll(":bills", "60000"));
    await admin.exec(analyzed ? "vacuum analyze" : "delete from pg_statistic; update pg_class set reltuples = -1");
    print(`\n${analyzed ? "Analyzed" : "Never analyzed"}:`);
    for (const [name, work] of Object.entries(WORK)) {
      if (!name.includes(wanted)) continue;
      print(`${name}: ${(await timed(admin, work)).toFixed(0)} ms`);
      for (const { place, without } of hints) {
        // A factor that three runs don't confirm is noise.
        let factor = Infinity;
        for (let time = 0; time < 3 && factor > LEAST; time++) {
          factor = Math.min(factor, await timed(admin, work, without) / await timed(admin, work));
        }
        if (factor > LEAST) print(`  ${factor.toFixed(1)} ${place}`);
      }
    }
    await admin.close();
    await database.close();
  }
} finally {
  await cluster.stop();
}

/** The shortest of several calls after a warm-up call; everything is rolled back, including the changed function. */
async function timed(database: SqlDatabase, work: (session: Session) => Promise<unknown>, without?: string) {
  let shortest = Infinity;
  await rolledBack(database, async (session) => {
    if (without) await session.exec(without);
    for (let round = 0; round <= ROUNDS; round++) {
      await session.exec("savepoint before");
      const start = performance.now();
      await work(session);
      if (round > 0) shortest = Math.min(shortest, performance.now() - start);
      await session.exec("rollback to before");
    }
  });
  return shortest;
}
