/**
 * Runs the job repeatedly while its processes die at random: after a claim, after the service accepted the mails,
 * before or after they were marked. A dead process reports nothing, so its leases must expire.
 */
import { assert, assertEquals } from "@std/assert";
import type { Database } from "../../../shared/db/client.ts";
import type { TestDatabase } from "../../_support/database.ts";
import { addDueBills, addMembers } from "./due_bills.ts";
import { asDatabase, createJob, type JobOptions, SECRET } from "./harness.ts";

export interface CrashPlan {
  owners: number;
  each: number;
  /** Whether each organization has a member with the same reminders. */
  members?: boolean;
  /** Minimum number of processes that die. */
  crashes: number;
  /** Lower for the first kinds of calls, where otherwise nearly all processes would die. */
  mostInOnePlace?: number;
  /** Concurrent processes. */
  parallel: number;
  seed: number;
  env?: Record<string, string>;
}

export interface CrashReport {
  crashes: number;
  runs: number;
  /** Calls at which processes died, by kind. */
  places: Record<string, number>;
}

/** @param fetchFor the `fetch` with which a process reaches the mail service; `die` ends that process */
export async function crashUntilDone(
  database: TestDatabase,
  plan: CrashPlan,
  fetchFor: (process: Process) => typeof fetch,
): Promise<CrashReport> {
  const random = mulberry32(plan.seed);
  const start = Date.parse("2026-11-20T08:00:00Z");
  let now = start;
  await addDueBills(database, { owners: plan.owners, each: plan.each, today: "2026-11-20" });
  if (plan.members) await addMembers(database);
  const report: CrashReport = { crashes: 0, runs: 0, places: {} };
  const isDone = async () => {
    const [row] = await database.query<{ open: number; sent: number; told: number }>(
      `select (select count(*)::int from jobs.reminder_digests where status = 'pending') as open,
         (select count(*)::int from jobs.reminder_log where sent_at is not null) as sent,
         (select count(*)::int from jobs.notice_log where sent_at is not null) as told`,
    );
    const all = plan.owners * plan.each;
    return row!.open === 0 && row!.sent === all && row!.told === (plan.members ? all : 0);
  };
  while (!await isDone()) {
    const minutes = (now - start) / 60_000;
    assert(minutes < 20 * 60, `not done after ${report.runs} runs: ${JSON.stringify(report)}`);
    await Promise.all(Array.from({ length: plan.parallel }, async () => {
      const process = newProcess({
        chance: (place) => {
          const died = report.places[place] ?? 0;
          if (report.crashes >= plan.crashes || died === plan.mostInOnePlace || random() > 0.35) return false;
          report.crashes++;
          report.places[place] = died + 1;
          return true;
        },
      });
      const options: JobOptions = {
        database: crashingDatabase(asDatabase(database), process),
        fetch: fetchFor(process),
        now: () => new Date(now),
        env: plan.env,
      };
      const response = await createJob(options).request(`/api/cron/reminders?secret=${SECRET}`);
      await response.body?.cancel();
      report.runs++;
    }));
    // Leases expire in the meantime.
    now += 3 * 60_000;
  }
  return report;
}

export interface Process {
  isDead: boolean;
  /** May end the process at this call. */
  mayDie(place: string): void;
  /** Calls of a dead process never resolve. */
  check(): void;
}

function newProcess({ chance }: { chance: (place: string) => boolean }): Process {
  const process: Process = {
    isDead: false,
    mayDie(place) {
      process.check();
      if (!chance(place)) return;
      process.isDead = true;
      process.check();
    },
    check() {
      if (process.isDead) throw new Error("this process is dead");
    },
  };
  return process;
}

function crashingDatabase(database: Database, process: Process): Database {
  return {
    async call(name, args) {
      process.check();
      if (name === "settle_reminders") process.mayDie("after sending, before marking");
      const result = await database.call(name, args);
      if (name === "claim_reminders") process.mayDie("after claiming, before sending");
      if (name === "collect_reminders") process.mayDie("after collecting, before claiming");
      if (name === "settle_reminders") process.mayDie("after marking");
      return result;
    },
  };
}

/** The bills in a mail's reminders, each once, from their table rows, because other sentences also name bills. */
export const billsIn = (text: string): string[] =>
  [...text.matchAll(/^ {2}(Bill \d+\.\d+) /gm)].map(([, name]) => name!);

/** The number of delivered texts that name each bill. */
export function countBills(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of texts.flatMap(billsIn)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

export function assertEachOnce(texts: readonly string[], { owners, each }: Pick<CrashPlan, "owners" | "each">): void {
  const counts = countBills(texts);
  assertEquals(counts.size, owners * each, "every reminder was delivered");
  assertEquals([...counts].filter(([, count]) => count !== 1), [], "none twice");
}

/** A small seeded random generator. */
function mulberry32(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
