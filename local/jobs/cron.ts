/**
 * Runs the jobs in `cron.job` like pg_cron: five-field UTC schedules or "N seconds", one run of a job at a time, each
 * recorded in `cron.job_run_details`. If several processes share a database, one of them runs a due job. The schedule
 * follows the stack's clock, so moving the clock changes the next due times. Like pg_cron, it does not catch up on
 * runs that a jump skipped.
 */
import { Cron } from "croner";
import type { Clock } from "../../shared/clock.ts";
import { describeError, type Log } from "../../shared/log.ts";
import type { Row, SqlDatabase } from "../database/sql.ts";

interface Job extends Row {
  jobid: number;
  schedule: string;
  command: string;
  jobname: string | null;
  database: string;
  username: string;
}

export interface CronWorker {
  /** Recomputes the due time of each job after the clock has moved. */
  reschedule(): void;
  stop(): Promise<void>;
}

/** Longer delays overflow setTimeout. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** @param isReal whether the clock shows real time; a moved clock may reach the same due time again */
export async function startCron(
  database: SqlDatabase,
  { clock, log, isReal = () => true }: { clock: Clock; log: Log; isReal?: () => boolean },
): Promise<CronWorker> {
  let jobs: Job[] = [];
  const timers = new Map<number, ReturnType<typeof setTimeout>>();
  const running = new Map<number, Promise<void>>();
  let stopped = false;

  function schedule(job: Job): void {
    clearTimeout(timers.get(job.jobid));
    const due = nextRun(job.schedule, clock());
    if (stopped || !due) return;
    const delay = Math.max(0, due.getTime() - clock().getTime());
    const wake = () => {
      // A timer may fire slightly early, and a capped delay always does.
      if (clock() < due) return schedule(job);
      if (!running.has(job.jobid)) {
        const claim = isReal() ? due : undefined;
        running.set(job.jobid, run(database, job, { claim, log }).finally(() => running.delete(job.jobid)));
      }
      schedule(job);
    };
    timers.set(job.jobid, setTimeout(wake, Math.min(delay, MAX_DELAY_MS)));
  }

  function reschedule(): void {
    for (const timer of timers.values()) clearTimeout(timer);
    timers.clear();
    jobs.forEach(schedule);
  }

  async function load(): Promise<void> {
    jobs = await database.query<Job>("select * from cron.job where active order by jobid");
    reschedule();
  }

  await database.listen("cron_job", () => void load().catch((thrown) => reportFailure(log, thrown)));
  await load();
  return {
    reschedule,
    async stop() {
      stopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
      await Promise.all(running.values());
    },
  };
}

/** The first instant after `now` at which a job with this schedule runs. */
export function nextRun(schedule: string, now: Date): Date | null {
  const seconds = /^\s*(\d+) seconds?\s*$/i.exec(schedule)?.[1];
  if (seconds) return new Date(now.getTime() + Number(seconds) * 1000);
  // pg_cron writes `$` for the last day of the month.
  return new Cron(schedule.replace("$", "L"), { timezone: "UTC", mode: "5-part", paused: true }).nextRun(now);
}

/** @param claim the due time; if another process has recorded it, this one skips the run */
async function run(
  database: SqlDatabase,
  job: Job,
  { claim, log }: { claim: Date | undefined; log: Log },
): Promise<void> {
  const [claimed] = await database.query<{ runid: number }>(
    `insert into cron.job_run_details (jobid, database, username, command, status, start_time, due)
     values ($1, $2, $3, $4, 'running', now(), $5) on conflict (jobid, due) do nothing returning runid`,
    [job.jobid, job.database, job.username, job.command, claim?.toISOString() ?? null],
  ).catch((thrown) => {
    reportFailure(log, thrown);
    return [];
  });
  if (!claimed) return;
  const outcome = await database.transaction((session) => session.exec(job.command))
    .then(() => ({ status: "succeeded", message: "1 row" }))
    .catch((thrown) => ({ status: "failed", message: `ERROR: ${thrown.message}` }));
  log.info("scheduled job", { route: job.jobname ?? String(job.jobid), outcome: outcome.status });
  await database.query(
    "update cron.job_run_details set status = $2, return_message = $3, end_time = now() where runid = $1",
    [claimed.runid, outcome.status, outcome.message],
  ).catch((thrown) => reportFailure(log, thrown));
}

const reportFailure = (log: Log, thrown: unknown) => log.error("scheduled job", { error: describeError(thrown) });
