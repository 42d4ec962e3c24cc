/** The jobs, the vault, the front door's secret and the clocks, from `/api/health/jobs`, which requires the secret. */
import type { ScheduleProblem } from "../../shared/jobs/schedule_health.ts";
import { type Check, describe, type Line, note, objectOf, wrong } from "./check.ts";

interface JobsHealth {
  vault: ScheduleProblem["code"][];
  jobs: { job: string; age_seconds: number | null; problems: ScheduleProblem[] }[];
  clock: string;
  database_clock: string;
  front_door: "ok" | "no_secret" | "wrong_secret" | "not_set";
}

/** Tokens live for minutes; more than this between two clocks ends some of them early. */
const MAX_SKEW_MS = 30_000;

const PATH = "/api/health/jobs";

export const schedule: Check = async function* (site) {
  if (!site.cronSecret) {
    yield note("Vault, schedule, clocks and mail weren't checked: name the settings with --env-file");
    return;
  }
  const askedAt = Date.now();
  const answer = await site.ask(PATH, { headers: { authorization: `Bearer ${site.cronSecret}` } });
  const health = objectOf(answer) as JobsHealth | undefined;
  if (answer.status === 401) {
    yield wrong("CRON_SECRET: the functions don't know this one; set it in the project (deno task deploy)");
    return;
  }
  if (!health?.vault) {
    yield wrong(`${PATH} answers ${describe(answer)}: the functions cannot ask the database about the schedule`);
    return;
  }
  yield* judgeVault(health);
  for (const job of health.jobs) yield* judgeJob(job);
  yield* judgeFrontDoor(health);
  yield* judgeClocks(health, askedAt);
};

function* judgeVault({ vault }: JobsHealth): Iterable<Line> {
  if (vault.includes("vault_project_url")) {
    yield wrong("Vault: project_url is not the functions' address, so no job reaches them (deno task deploy fills it)");
  }
  if (vault.includes("vault_cron_secret")) {
    yield wrong(
      "Vault: cron_secret is none that the functions accept, so each job is refused (deno task deploy fills it)",
    );
  }
}

const REASONS: Partial<Record<ScheduleProblem["code"], string>> = {
  not_scheduled: "is not in pg_cron; were the migrations applied?",
  inactive: "is switched off in pg_cron",
  schedule_failed: "failed in the database at its last call; see cron.job_run_details",
  called_in_vain: "was called, and no run followed; see net._http_response and the function's log",
  too_old: "has not succeeded for too long; does pg_cron run?",
};

function* judgeJob({ job, age_seconds, problems }: JobsHealth["jobs"][number]): Iterable<Line> {
  const since = age_seconds === null ? "never succeeded yet" : `last succeeded ${ageOf(age_seconds)} ago`;
  for (const problem of problems) {
    const reason = problem.code === "stage_failed"
      ? `failed in its last run, at ${problem.stages!.join(", ")}; see jobs.job_runs`
      : REASONS[problem.code];
    yield wrong(`Job ${problem.job ?? job} ${reason} (${since})`);
  }
  if (problems.length === 0) yield note(`Job ${job}: ${since}`);
}

function ageOf(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 60 / 24)} days`;
}

const FRONT_DOOR: Record<JobsHealth["front_door"], string | undefined> = {
  ok: undefined,
  no_secret: "sends no FRONT_DOOR_SECRET: everyone behind it shares one caller's limits",
  wrong_secret:
    "sends another FRONT_DOOR_SECRET than the functions have: everyone behind it shares one caller's limits",
  not_set: "is not proven, as the functions have no FRONT_DOOR_SECRET: everyone behind it shares one caller's limits",
};

function* judgeFrontDoor({ front_door }: JobsHealth): Iterable<Line> {
  const fault = FRONT_DOOR[front_door];
  if (fault) yield wrong(`The front door ${fault}`);
}

function* judgeClocks({ clock, database_clock }: JobsHealth, askedAt: number): Iterable<Line> {
  const elapsed = Date.now() - askedAt;
  for (const [whose, time] of [["functions'", clock], ["database's", database_clock]] as const) {
    const skew = Date.parse(time) - askedAt;
    if (skew < -MAX_SKEW_MS || skew > elapsed + MAX_SKEW_MS) {
      const seconds = Math.round(Math.abs(skew) / 1000);
      yield wrong(
        `The ${whose} clock is ${seconds} s ${skew < 0 ? "behind" : "ahead of"} this machine's: one of them is off`,
      );
    }
  }
}
