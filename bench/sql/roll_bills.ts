/**
 * `deno run -A bench/sql/roll_bills.ts [bills] [days]`: compares the job's rolling and materializing with the floor of
 * the same run (roll_floor.sql), in wall-clock and server CPU time. It alternates them on a throw-away PostgreSQL
 * server (default: a million bills, five days). It runs the function's own job with parallel pages, but without
 * PostgREST. Each day is rolled twice; the second roll finds no due bills.
 */
import { rollBills } from "../../functions/cron-reminders/roll_stage.ts";
import type { SqlDatabase } from "../../local/database/sql.ts";
import { createRemindersStore } from "../../shared/db/reminders_store.ts";
import { Problems } from "../../shared/jobs/problems.ts";
import { createLog } from "../../shared/log.ts";
import type { TestDatabase } from "../../tests/_support/database.ts";
import { asDatabase } from "../../tests/functions/cron-reminders/harness.ts";
import { withBills } from "./million_bills.ts";

const [bills = 1_000_000, days = 5] = Deno.args.map(Number);
const print = (line: string) => void Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));

interface Cost {
  ms: number;
  cpuMs: number;
}
const told = ({ ms, cpuMs }: Cost) => `${ms} ms (${cpuMs} ms of CPU)`;

await withBills(bills, async ({ database, admin, read }) => {
  await admin.exec(await read("roll_floor.sql"));
  const floorOf = await read("roll_floor_day.sql");

  const costs: Record<"floor" | "roll" | "again", Cost[]> = { floor: [], roll: [], again: [] };
  for (let n = 0; n < days; n++) {
    const day = new Date(Date.UTC(2026, 10, 20 + n)).toISOString().slice(0, 10);
    await admin.exec("vacuum analyze");
    let advanced = 0;
    const turns = {
      floor: () => admin.exec(floorOf.replaceAll(":today", `date '${day}'`)),
      roll: async () => advanced += await rollDay(database, day),
      again: async () => advanced += await rollDay(database, day),
    };
    for (const name of n % 2 === 0 ? ["floor", "roll", "again"] as const : ["roll", "again", "floor"] as const) {
      await admin.exec("checkpoint");
      costs[name].push(await timed(admin, turns[name]));
    }
    const [floor, roll] = [costs.floor[n]!, costs.roll[n]!];
    print(`${day}: ${advanced} bills, floor ${told(floor)}, roll_bills ${told(roll)}, again ${told(costs.again[n]!)}`);
  }
  const ratios = (of: keyof Cost) => median(costs.roll.map((roll, n) => roll[of] / costs.floor[n]![of])).toFixed(2);
  print(`median of ${days} days: ${ratios("ms")} times the floor in wall-clock time, ${ratios("cpuMs")} in CPU time`);
});

async function timed(database: SqlDatabase, work: () => Promise<unknown>): Promise<Cost> {
  const before = await cpuMs(database);
  const startedAt = performance.now();
  await work();
  const ms = Math.round(performance.now() - startedAt);
  return { ms, cpuMs: await cpuMs(database) - before };
}

/** CPU time of a database's sessions so far, with a resolution of 10 ms (proc(5), fields 14 and 15). */
async function cpuMs(database: SqlDatabase): Promise<number> {
  let total = 0;
  const sessions = await database.query<{ pid: number }>(
    "select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend'",
  );
  for (const { pid } of sessions) {
    const fields = (await Deno.readTextFile(`/proc/${pid}/stat`)).split(") ")[1]!.split(" ");
    total += (Number(fields[11]) + Number(fields[12])) * 10;
  }
  return total;
}

/** Runs the job's stage and records its completion; returns the number of rolled bills. */
async function rollDay(database: TestDatabase, day: string): Promise<number> {
  const at = new Date(`${day}T08:00:00Z`);
  const problems = new Problems();
  const store = createRemindersStore(asDatabase(database));
  const job = { store, log: createLog(print) } as Parameters<typeof rollBills>[0];
  const counts = await rollBills(job, { problems, at, remainingMs: () => 60_000 });
  if (!counts.complete) throw new Error(JSON.stringify(problems.list()));
  await database.query("select public.record_job_run('reminders', $1, 'roll', 'ok', $2, null, $3, $3)", [
    day,
    JSON.stringify(counts),
    at.toISOString(),
  ]);
  return counts.advanced;
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}
