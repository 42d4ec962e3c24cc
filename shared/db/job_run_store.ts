/** Records the runs of the scheduled functions. */
import * as z from "zod/mini";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";

export interface StageRun {
  /** The run's period: a day, or the first of a month. */
  period: string;
  stage: string;
  status: "ok" | "failed";
  counts: Readonly<Record<string, number | boolean>>;
  errorCode: string | null;
  startedAt: Date;
  finishedAt: Date;
}

export type RecordRun = (run: StageRun) => Promise<unknown>;

export const ANSWERS = { record_job_run: z.unknown() };

/** The returned function throws what `Database.call` throws. */
export const createRecordRun =
  (database: Database, job: "reminders" | "provider-sync"): RecordRun =>
  ({ errorCode, startedAt, finishedAt, ...run }) =>
    asking(database, ANSWERS)("record_job_run", {
      job,
      period: run.period,
      stage: run.stage,
      status: run.status,
      counts: run.counts,
      error_code: errorCode,
      started_at: startedAt,
      finished_at: finishedAt,
    });
