/**
 * `GET /api/health/jobs`: whether the schedule works, for monitors. It reveals jobs, ages and settings, so it requires
 * the scheduler's secret.
 */
import { createHash } from "node:crypto";
import { createCheckSchedule } from "../../shared/db/schedule_store.ts";
import type { Config } from "../../shared/config.ts";
import type { AppContext } from "../../shared/http/app.ts";
import { isOneOf } from "../../shared/http/front_door.ts";
import { judgeSchedule } from "../../shared/jobs/schedule_health.ts";
import { FRONT_DOOR_HEADER } from "../../shared/routes.ts";
import type { JobDeps } from "./stage.ts";

/** 200 when all jobs are healthy, otherwise 503; `vault` and `jobs` name the problems. */
export async function answerJobsHealth(c: AppContext, { config, database, clock }: JobDeps): Promise<Response> {
  const report = await createCheckSchedule(database)({
    projectUrl: config.supabaseUrl,
    cronSecretHashes: config.cronSecrets.map((secret) => createHash("sha256").update(secret).digest("hex")),
  });
  const { vault, jobs } = judgeSchedule(report);
  const ok = vault.length === 0 && jobs.every(({ problems }) => problems.length === 0);
  const answer = {
    ok,
    vault: vault.map(({ code }) => code),
    jobs: jobs.map(({ job, ageSeconds, problems }) => ({ job, age_seconds: ageSeconds, problems })),
    clock: clock().toISOString(),
    database_clock: report.at,
    front_door: describeFrontDoor(c, config),
    mail_from: config.mailFrom ?? null,
  };
  return c.json(answer, ok ? 200 : 503, { "cache-control": "no-store" });
}

/** The request's route: through our front door, around it, or with an unknown secret. */
function describeFrontDoor(c: AppContext, { frontDoorSecrets }: Config): string {
  const proof = c.req.header(FRONT_DOOR_HEADER);
  if (frontDoorSecrets.length === 0) return "not_set";
  if (proof === undefined) return "no_secret";
  return isOneOf([proof], frontDoorSecrets) ? "ok" : "wrong_secret";
}
