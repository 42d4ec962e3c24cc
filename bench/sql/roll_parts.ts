/**
 * `deno run -A bench/sql/roll_parts.ts [bills]`: the time of each part of the daily roll in milliseconds, by EXPLAIN
 * ANALYZE of a day's pages (default: of a million bills). Each page is rolled back. EXPLAIN's timing makes it slightly
 * slower.
 */
import { print } from "../../local/command_line.ts";
import { createRemindersStore } from "../../shared/db/reminders_store.ts";
import { asDatabase } from "../../tests/functions/cron-reminders/harness.ts";
import { withBills } from "./million_bills.ts";

const AT = "2026-11-20T08:00:00Z";
const [bills = 1_000_000] = Deno.args.map(Number);

/** A step in the output of EXPLAIN. */
interface Plan {
  "Node Type": string;
  "Subplan Name"?: string;
  "Actual Total Time": number;
  "Actual Loops": number;
  Plans?: Plan[];
}
interface Explained {
  Plan: Plan;
  Triggers?: { "Constraint Name"?: string; Time: number }[];
  "Execution Time": number;
}

const parts = new Map<string, number>();
const add = (part: string, ms: number) => parts.set(part, (parts.get(part) ?? 0) + ms);

await withBills(bills, async ({ database, admin }) => {
  await admin.exec("vacuum analyze");
  await admin.exec("set jit = off; set search_path = ''");
  const store = createRemindersStore(asDatabase(database));
  const statement = await rollingStatement();
  for (const page of await store.findRollingPages({ at: new Date(AT), size: 2000 })) {
    await admin.exec(`begin; select set_config('app.at', '${AT}', true), set_config('app.change_id', '', true)`);
    const startedAt = performance.now();
    await admin.query(
      "create temp table locked on commit drop as select * from jobs.lock_stale_bills($1::timestamptz, $2::text::jsonb)",
      [AT, JSON.stringify(page)],
    );
    add("finding and locking what is due", performance.now() - startedAt);
    const [row] = await admin.query<{ "QUERY PLAN": Explained[] }>(`explain (analyze, format json) ${statement}`);
    const [explained] = row!["QUERY PLAN"];
    add("all of the statement", explained!["Execution Time"]);
    for (const trigger of explained!.Triggers ?? []) add(`checking ${trigger["Constraint Name"]}`, trigger.Time);
    addSteps(explained!.Plan);
    await admin.exec("rollback");
  }
});
for (const [part, ms] of parts) print(`${part}: ${ms.toFixed(0)} ms`);

/** The single statement of jobs.roll_bills, on the locked rows. */
async function rollingStatement(): Promise<string> {
  const source = await Deno.readTextFile(new URL("../../supabase/schemas/bills/roll_bills.sql", import.meta.url));
  const [, body] = /\n( {2}with page as[^]+?)\n {2}foreach one/.exec(source)!;
  return body!.replace("into rolled, automatic\n", "")
    .replaceAll("unnest(stale)", "unnest((select l.stale from pg_temp.locked as l))")
    .replaceAll("roll_bills.at", `'${AT}'::timestamptz`);
}

/** The steps that the statement names, and for writes also the source of their rows. */
function addSteps(plan: Plan): void {
  const name = plan["Subplan Name"];
  if (name?.startsWith("CTE")) add(name, plan["Actual Total Time"] * plan["Actual Loops"]);
  for (const step of plan.Plans ?? []) {
    if (plan["Node Type"] === "ModifyTable") {
      add(`of ${name} its rows`, step["Actual Total Time"] * step["Actual Loops"]);
    }
    addSteps(step);
  }
}
