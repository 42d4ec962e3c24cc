/** Judges the database's report about the schedule: the failing jobs, and the time since their last success. */
import * as z from "zod/mini";

/** The database's report (`public.check_schedule`). */
export const ScheduleReport = z.object({
  /** The database's clock. */
  at: z.string(),
  /** Whether the vault contains the schedule's secrets. */
  vault: z.object({ project_url: z.boolean(), cron_secret: z.boolean() }),
  schedules: z.array(z.object({
    name: z.string(),
    is_active: z.boolean(),
    last_started_at: z.nullable(z.string()),
    last_status: z.nullable(z.string()),
    last_succeeded_at: z.nullable(z.string()),
  })),
  /** The scheduled functions that have ever run. */
  runs: z.array(z.object({
    job: z.string(),
    last_finished_at: z.nullable(z.string()),
    last_ok_at: z.nullable(z.string()),
    failed_stages: z.array(z.string()),
  })),
});
export type ScheduleReport = z.infer<typeof ScheduleReport>;

export interface ScheduleProblem {
  code:
    | "vault_project_url"
    | "vault_cron_secret"
    | "not_scheduled"
    | "inactive"
    | "schedule_failed"
    | "called_in_vain"
    | "stage_failed"
    | "too_old";
  /** The schedule or job; absent for the vault. */
  job?: string;
  /** Stages that failed in the latest run. */
  stages?: string[];
}

export interface JobHealth {
  job: string;
  /** Time since the last successful run; null before the first. */
  ageSeconds: number | null;
  problems: ScheduleProblem[];
}

export interface ScheduleHealth {
  vault: ScheduleProblem[];
  jobs: JobHealth[];
}

const HOUR = 3600;

/**
 * The jobs with their schedules, and the maximum age of the last successful run: a period and some hours. A job inside
 * the database logs no stages, so only its schedule counts.
 */
const JOBS = [
  { job: "reminders", schedules: ["reminders", "reminders-catch-up"], atMost: 26 * HOUR },
  { job: "roll-bills", schedules: ["roll-bills"], atMost: 2 * HOUR, isOwn: true },
  { job: "send-events", schedules: ["send-events"], atMost: HOUR, isOwn: true },
  // From the 10th of a month to the 2nd of the next.
  { job: "provider-sync", schedules: ["provider-sync", "provider-sync-catch-up"], atMost: 24 * 24 * HOUR },
  { job: "purge-expired", schedules: ["purge-expired"], atMost: 26 * HOUR, isOwn: true },
];

/** A run takes at most a minute. A call without a trace after this time has failed. */
const RUN_MS = 10 * 60_000;

export function judgeSchedule(report: ScheduleReport): ScheduleHealth {
  const { vault } = report;
  return {
    vault: [
      ...(vault.project_url ? [] : [{ code: "vault_project_url" as const }]),
      ...(vault.cron_secret ? [] : [{ code: "vault_cron_secret" as const }]),
    ],
    jobs: JOBS.map((job) => judgeJob(job, report)),
  };
}

function judgeJob({ job, schedules, atMost, isOwn }: (typeof JOBS)[number], report: ScheduleReport): JobHealth {
  const now = Date.parse(report.at);
  const own = schedules.map((name) => ({ name, found: report.schedules.find((schedule) => schedule.name === name) }));
  const run = report.runs.find((one) => one.job === job);
  const startedAt = latest(own.map(({ found }) => found?.last_started_at));
  const okAt = isOwn ? latest(own.map(({ found }) => found?.last_succeeded_at)) : latest([run?.last_ok_at]);
  const newest = own.map(({ found }) => found).find((found) => found && timeOf(found.last_started_at) === startedAt);
  const problems = own.flatMap(({ name, found }): ScheduleProblem[] =>
    !found ? [{ code: "not_scheduled", job: name }] : found.is_active ? [] : [{ code: "inactive", job: name }]
  );
  const finishedAt = latest([run?.last_finished_at]);
  const isLost = startedAt !== null && now - startedAt > RUN_MS && (finishedAt ?? 0) < startedAt - RUN_MS;
  if (newest?.last_status === "failed") problems.push({ code: "schedule_failed", job });
  else if (!isOwn && isLost) problems.push({ code: "called_in_vain", job });
  if (run && run.failed_stages.length > 0) problems.push({ code: "stage_failed", job, stages: run.failed_stages });
  const ageSeconds = okAt === null ? null : Math.max(0, Math.round((now - okAt) / 1000));
  if (ageSeconds !== null && ageSeconds > atMost && problems.length === 0) problems.push({ code: "too_old", job });
  return { job, ageSeconds, problems };
}

const timeOf = (at: string | null | undefined) => at ? Date.parse(at) : null;

function latest(times: (string | null | undefined)[]): number | null {
  const known = times.map(timeOf).filter((time) => time !== null);
  return known.length > 0 ? Math.max(...known) : null;
}
