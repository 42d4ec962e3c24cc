/** What a monitor asks the database about the schedule. */
import type { ScheduleReport } from "../jobs/schedule_health.ts";
import type { Database } from "./client.ts";

export type CheckSchedule = (expected: { projectUrl: string; cronSecretHashes: string[] }) => Promise<ScheduleReport>;

/** The returned function throws what `Database.call` throws. */
export const createCheckSchedule = (database: Database): CheckSchedule => ({ projectUrl, cronSecretHashes }) =>
  database.call<ScheduleReport>("check_schedule", { project_url: projectUrl, cron_secret_hashes: cronSecretHashes });
