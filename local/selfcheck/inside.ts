/** Checks that need the deployment's secrets: vault, jobs, the front door's secret, clocks, mail, sign-in settings. */
import type { ScheduleProblem } from "../../shared/jobs/schedule_health.ts";
import { type Check, describe, type Line, note, wrong } from "./check.ts";

interface JobsHealth {
  vault?: ScheduleProblem["code"][];
  jobs: { job: string; age_seconds: number | null; problems: ScheduleProblem[] }[];
  clock: string;
  database_clock: string;
  front_door: keyof typeof FRONT_DOOR;
}

/** Tokens live for minutes; a larger difference between two clocks ends some of them early. */
const MAX_SKEW_MS = 30_000;

const PROBLEMS: Partial<Record<ScheduleProblem["code"], string>> = {
  vault_project_url: "Vault: project_url is not the functions' address, so no job reaches them",
  vault_cron_secret: "Vault: cron_secret is none that the functions accept, so each job is refused",
  not_scheduled: "is not in pg_cron; were the migrations applied?",
  inactive: "is switched off in pg_cron",
  schedule_failed: "failed in the database at its last call; see cron.job_run_details",
  called_in_vain: "was called, and no run followed; see net._http_response and the function's log",
  too_old: "has not succeeded for too long; does pg_cron run?",
};

const FRONT_DOOR = {
  ok: "",
  no_secret: "sends no FRONT_DOOR_SECRET",
  wrong_secret: "sends another FRONT_DOOR_SECRET than the functions have",
  not_set: "is not proven, as the functions have no FRONT_DOOR_SECRET",
};

export const schedule: Check = async function* (site) {
  if (!site.cronSecret) {
    yield note("Vault, schedule, clocks and mail weren't checked: name the settings with --env-file");
    return;
  }
  const askedAt = Date.now();
  const path = "/api/health/jobs";
  const answer = await site.ask(path, { headers: { authorization: `Bearer ${site.cronSecret}` } });
  const { vault, jobs, front_door, clock, database_clock } = answer.json as unknown as JobsHealth;
  if (answer.status === 401) {
    yield wrong("CRON_SECRET: the functions don't know this one; set it in the project (deno task deploy)");
    return;
  }
  if (!vault) {
    yield wrong(`${path} answers ${describe(answer)}: the functions cannot ask the database about the schedule`);
    return;
  }
  for (const code of vault) yield wrong(`${PROBLEMS[code]} (deno task deploy fills it)`);
  for (const job of jobs) yield* judgeJob(job);
  if (FRONT_DOOR[front_door]) {
    yield wrong(`The front door ${FRONT_DOOR[front_door]}: everyone behind it shares one caller's limits`);
  }
  const elapsed = Date.now() - askedAt;
  for (const [whose, time] of [["functions'", clock], ["database's", database_clock]] as const) {
    const skew = Date.parse(time) - askedAt;
    if (skew >= -MAX_SKEW_MS && skew <= elapsed + MAX_SKEW_MS) continue;
    const distance = `${Math.round(Math.abs(skew) / 1000)} s ${skew < 0 ? "behind" : "ahead of"}`;
    yield wrong(`The ${whose} clock is ${distance} this machine's: one of them is off`);
  }
};

function* judgeJob({ job, age_seconds, problems }: JobsHealth["jobs"][number]): Iterable<Line> {
  const since = age_seconds === null ? "never succeeded yet" : `last succeeded ${ageOf(age_seconds)} ago`;
  for (const problem of problems) {
    const reason = problem.code === "stage_failed"
      ? `failed in its last run, at ${problem.stages!.join(", ")}; see jobs.job_runs`
      : PROBLEMS[problem.code];
    yield wrong(`Job ${problem.job ?? job} ${reason} (${since})`);
  }
  if (problems.length === 0) yield note(`Job ${job}: ${since}`);
}

function ageOf(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 60 / 24)} days`;
}

/** Only this check leaves a trace. */
export const mail: Check = async function* (site) {
  if (!site.mailTo || !site.cronSecret) return;
  const answer = await site.ask("/api/health/mail", {
    method: "POST",
    headers: { "authorization": `Bearer ${site.cronSecret}`, "content-type": "application/json" },
    body: JSON.stringify({ to: site.mailTo }),
  });
  const { mark } = answer.json;
  if (answer.status === 200 && typeof mark === "string") {
    yield note(`Mail: one is on its way to ${site.mailTo}; it is ours if it names the mark ${mark}`);
  } else if (answer.status === 503) {
    yield wrong(
      "Mail: the mail service did not take it; check MAIL_URL and MAIL_FROM (the function's log has the failure code)",
    );
  } else if (answer.status === 400) yield wrong(`Mail: ${site.mailTo} is not an address`);
  else if (answer.status !== 401) yield wrong(`Mail: /api/health/mail answers ${describe(answer)}`);
};

/** The explanation of a difference; the first matching pattern applies. */
const MEANINGS: readonly [RegExp, string][] = [
  [/^auth\.site_url$/, "Site URL is another address, so that links in mails lead elsewhere"],
  [/^auth\.additional_redirect_urls$/, "the redirect list allows other addresses"],
  [
    /^auth\.email\.smtp\.enabled$/,
    "there is no mail server of its own: two mails an hour, and only to members of the organization that owns the " +
    "project (others get email_address_not_authorized)",
  ],
  [/^auth\.email\.smtp\./, "the mail server is another one"],
  [/^auth\.(rate_limit\.|email\.max_frequency)/, "the limits on mails and sign-ins are other ones"],
  [/^auth\.email\.template\./, "the mails are not ours, so that their links don't work in another browser"],
  [/^auth\.hook\./, "the hook that refuses password sessions is not on"],
  [/^auth\.external\./, "the services to sign in with are other ones"],
  [/^api\./, "the API exposes other schemas"],
  [/./, "other settings differ"],
];

/**
 * Compares the settings of Supabase Auth with this checkout's. The platform shows them only to a holder of an access
 * token.
 */
export const signInSettings: Check = async function* (site) {
  if (site.signInDifferences) yield* judgeSettings(await site.signInDifferences());
  else yield note("The settings of Supabase Auth weren't checked: name the project with --project");
};

export function* judgeSettings(differences: readonly string[]): Iterable<Line> {
  // Without a mail server, its other settings don't matter.
  const isOff = differences.includes("auth.email.smtp.enabled");
  const paths = differences.filter((path) => !isOff || !/^auth\.email\.smtp\.(?!enabled)/.test(path));
  const byMeaning = Map.groupBy(paths, (path) => MEANINGS.find(([pattern]) => pattern.test(path))![1]);
  for (const [, meaning] of MEANINGS) {
    const own = byMeaning.get(meaning);
    if (own) yield wrong(`Sign-in: ${meaning} (${own.join(", ")}); deno task deploy sets it`);
  }
}
