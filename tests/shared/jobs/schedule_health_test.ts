/** Reports on the schedule for monitors: each fault alone, and none for a healthy schedule. */
import { assertEquals } from "@std/assert";
import { judgeSchedule, type ScheduleReport } from "../../../shared/jobs/schedule_health.ts";

const schedule = (name: string, last: string | null, status = "succeeded") => ({
  name,
  is_active: true,
  last_started_at: last,
  last_status: last && status,
  last_succeeded_at: status === "succeeded" ? last : null,
});

function report(change: (healthy: ScheduleReport) => void = () => {}): ScheduleReport {
  const healthy: ScheduleReport = {
    at: "2026-11-20T12:30:00+00:00",
    vault: { project_url: true, cron_secret: true },
    schedules: [
      schedule("provider-sync", "2026-11-02T06:00:00+00:00"),
      schedule("provider-sync-catch-up", "2026-11-10T06:00:00+00:00"),
      schedule("purge-expired", "2026-11-20T03:57:00+00:00"),
      schedule("reminders", "2026-11-20T08:00:00+00:00"),
      schedule("reminders-catch-up", "2026-11-20T11:55:00+00:00"),
      schedule("roll-bills", "2026-11-20T12:16:00+00:00"),
      schedule("send-events", "2026-11-20T12:29:00+00:00"),
    ],
    runs: [
      {
        job: "provider-sync",
        last_finished_at: "2026-11-10T06:00:09+00:00",
        last_ok_at: "2026-11-10T06:00:09+00:00",
        failed_stages: [],
      },
      {
        job: "reminders",
        last_finished_at: "2026-11-20T11:55:02+00:00",
        last_ok_at: "2026-11-20T11:55:02+00:00",
        failed_stages: [],
      },
    ],
  };
  change(healthy);
  return healthy;
}

const problemsIn = (change?: (healthy: ScheduleReport) => void) => {
  const { vault, jobs } = judgeSchedule(report(change));
  return [...vault, ...jobs.flatMap(({ problems }) => problems)];
};
const byName = (from: ScheduleReport, name: string) => from.schedules.find((one) => one.name === name)!;
const runOf = (from: ScheduleReport, job: string) => from.runs.find((one) => one.job === job)!;

Deno.test("a healthy schedule has no problem and reports the age of each job's last good run", () => {
  assertEquals(judgeSchedule(report()), {
    vault: [],
    jobs: [
      { job: "reminders", ageSeconds: 2098, problems: [] },
      { job: "roll-bills", ageSeconds: 840, problems: [] },
      { job: "send-events", ageSeconds: 60, problems: [] },
      { job: "provider-sync", ageSeconds: 887391, problems: [] },
      { job: "purge-expired", ageSeconds: 30780, problems: [] },
    ],
  });
});

Deno.test("before the first run no job has a problem or an age", () => {
  const { vault, jobs } = judgeSchedule(report((healthy) => {
    healthy.schedules = healthy.schedules.map(({ name }) => schedule(name, null));
    healthy.runs = [];
  }));
  assertEquals([vault, jobs.map(({ ageSeconds, problems }) => [ageSeconds, problems])], [
    [],
    Array.from({ length: 5 }, () => [null, []]),
  ]);
});

const FAULTS: Record<string, [(healthy: ScheduleReport) => void, unknown[]]> = {
  "the vault has another address": [
    ({ vault }) => vault.project_url = false,
    [{ code: "vault_project_url" }],
  ],
  "the vault has another secret": [({ vault }) => vault.cron_secret = false, [{ code: "vault_cron_secret" }]],
  "a schedule is gone": [
    (healthy) => healthy.schedules = healthy.schedules.filter(({ name }) => name !== "reminders-catch-up"),
    [{ code: "not_scheduled", job: "reminders-catch-up" }],
  ],
  "a schedule is switched off": [
    (healthy) => byName(healthy, "purge-expired").is_active = false,
    [{ code: "inactive", job: "purge-expired" }],
  ],
  "the last call failed in the database": [
    (healthy) => byName(healthy, "reminders-catch-up").last_status = "failed",
    [{ code: "schedule_failed", job: "reminders" }],
  ],
  "the function was called and did nothing": [
    (healthy) => runOf(healthy, "reminders").last_finished_at = "2026-11-19T11:55:02+00:00",
    [{ code: "called_in_vain", job: "reminders" }],
  ],
  "the function was called for the first time and did nothing": [
    (healthy) => healthy.runs = healthy.runs.filter(({ job }) => job !== "provider-sync"),
    [{ code: "called_in_vain", job: "provider-sync" }],
  ],
  "a stage failed": [
    (healthy) => runOf(healthy, "reminders").failed_stages = ["rates"],
    [{ code: "stage_failed", job: "reminders", stages: ["rates"] }],
  ],
  "the scheduler itself has stopped": [
    (healthy) => healthy.at = "2026-11-21T14:00:01+00:00",
    ["reminders", "roll-bills", "send-events", "purge-expired"].map((job) => ({ code: "too_old", job })),
  ],
};
for (const [what, [plant, expected]] of Object.entries(FAULTS)) {
  Deno.test(`a problem is reported when ${what}`, () => assertEquals(problemsIn(plant), expected as never));
}

Deno.test("a call younger than a minute is not reported as late", () => {
  assertEquals(
    problemsIn((healthy) => {
      byName(healthy, "reminders-catch-up").last_started_at = "2026-11-20T12:29:00+00:00";
      runOf(healthy, "reminders").last_finished_at = "2026-11-20T11:45:02+00:00";
    }),
    [],
  );
});
