/** What a run of the job works with, and what it gives to each of its stages. */
import type { RecordRun } from "../../shared/db/job_run_store.ts";
import type { RemindersStore } from "../../shared/db/reminders_store.ts";
import type { Deps } from "../../shared/deps.ts";
import type { Problems } from "../../shared/jobs/problems.ts";

/** What a run works with. It asks no address that a person chose. */
export interface Job extends Omit<Deps, "guardedFetch"> {
  store: RemindersStore;
  recordRun: RecordRun;
}

/** What a stage is given. */
export interface Stage {
  problems: Problems;
  /** When the run began: what has passed and what falls due is told by one instant, whatever midnight comes in between. */
  at: Date;
  /** Milliseconds left for new work; none when zero or less. */
  remainingMs(): number;
}
