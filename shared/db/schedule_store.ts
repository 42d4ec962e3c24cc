/** The database call behind a monitor's report about the schedule. */
import { ScheduleReport } from "../jobs/schedule_health.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";

export type CheckSchedule = (expected: { projectUrl: string; cronSecretHashes: string[] }) => Promise<ScheduleReport>;

export const ANSWERS = { check_schedule: ScheduleReport };

/** The returned function throws what `Database.call` throws. */
export const createCheckSchedule = (database: Database): CheckSchedule => ({ projectUrl, cronSecretHashes }) =>
  asking(database, ANSWERS)("check_schedule", { project_url: projectUrl, cron_secret_hashes: cronSecretHashes });
