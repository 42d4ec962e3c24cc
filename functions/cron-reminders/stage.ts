/** Inputs of the job's stages. */
import type { RecordRun } from "../../shared/db/job_run_store.ts";
import type { RemindersStore } from "../../shared/db/reminders_store.ts";
import type { Deps } from "../../shared/deps.ts";
import type { Problems } from "../../shared/jobs/problems.ts";

/** Only the events stage fetches URLs that other people chose. */
export type JobDeps = Omit<Deps, "guardedFetch">;

export interface Job extends JobDeps {
  store: RemindersStore;
  recordRun: RecordRun;
}

/** Input of a stage. */
export interface Stage {
  problems: Problems;
  /** The start of the run. It separates past from future dates in all stages, even across midnight. */
  at: Date;
  /** Milliseconds left for new work; no time is left at zero or less. */
  remainingMs(): number;
}

/** Marks a stage as failed for monitors, although it completed part of its work. */
export type Fail = (code: string) => void;
