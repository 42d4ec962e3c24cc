/**
 * One run of the job. Its stages are independent: each has its own time limit, its own row in `jobs.job_runs`, and
 * fails alone. All state is keyed by its subject, so a duplicate, concurrent or late run changes nothing.
 */
import { createRecordRun } from "../../shared/db/job_run_store.ts";
import { createRemindersStore } from "../../shared/db/reminders_store.ts";
import type { Deps } from "../../shared/deps.ts";
import { toAppError } from "../../shared/errors.ts";
import { describeError } from "../../shared/log.ts";
import { type Problem, Problems } from "../../shared/jobs/problems.ts";
import { sendEvents } from "./events_stage.ts";
import { mailProposals } from "./proposals_stage.ts";
import { readInboundMail } from "./inbound_stage.ts";
import { ratePastDays } from "./past_rates_stage.ts";
import { refreshRates } from "./rates_stage.ts";
import { sendReminders } from "./reminders_stage.ts";
import { rollBills } from "./roll_stage.ts";
import type { Fail, Job, Stage } from "./stage.ts";

/** The response has exactly these fields. */
export interface RunAnswer {
  ok: boolean;
  candidates: number;
  nextDueAdvanced: number;
  digestsSent: number;
  remindersSent: number;
  fxRefreshed: boolean;
  errors: Problem[];
}

export interface RunLimits {
  /** How long the run starts new work. */
  workMs: number;
  /**
   * Only rolls bills and records automatic payments: totals need them soon after midnight, while mails wait for 08:00.
   */
  rollsOnly?: boolean;
  /** Only sends events to apps, which are waiting for them. */
  sendsEventsOnly?: boolean;
  /** Only reads forwarded mail, because people wait for its documents. */
  readsMailOnly?: boolean;
  /** Milliseconds since the start of the run, for tests. */
  elapsed?: () => number;
}

function stopwatch(): () => number {
  const startedAt = performance.now();
  return () => performance.now() - startedAt;
}

/** Rolling precedes sending, and must leave it this share of the time. */
const SENDING_TIME_SHARE = 0.5;
const PROPOSALS_TIME_SHARE = 0.6;
/** Mails convert at today's rates, but don't wait longer than this for them. */
const RATES_TIME_SHARE = 0.75;
const KEPT_FOR_PAST_RATES_MS = 5_000;

/** @throws {AppError} `unavailable` when the database cannot be reached at all. */
export async function runReminders(
  deps: Deps,
  { workMs, rollsOnly = false, sendsEventsOnly = false, readsMailOnly = false, elapsed = stopwatch() }: RunLimits,
): Promise<RunAnswer> {
  const { database } = deps;
  const job: Job = {
    ...deps,
    store: createRemindersStore(database),
    recordRun: createRecordRun(database, "reminders"),
  };
  const problems = new Problems();
  const at = job.clock();
  const until = (ms: number): Stage => ({ problems, at, remainingMs: () => ms - elapsed() });
  const run = stageRunner(job, problems);

  const roll = () => run("roll", () => rollBills(job, until(workMs * (1 - SENDING_TIME_SHARE))));
  if (rollsOnly) {
    const rolled = await roll();
    return { ...NOTHING_DONE, ok: rolled !== null, nextDueAdvanced: rolled?.advanced ?? 0, errors: problems.list() };
  }
  if (sendsEventsOnly) {
    const told = await run("events", () => sendEvents(deps, until(workMs)));
    return { ...NOTHING_DONE, ok: told !== null, nextDueAdvanced: 0, errors: problems.list() };
  }
  if (readsMailOnly) {
    const read = await run("inbound", (fail) => readInboundMail(deps, until(workMs), { elapsed, fail }));
    return { ...NOTHING_DONE, ok: read !== null, nextDueAdvanced: 0, errors: problems.list() };
  }
  const counted = await run("candidates", async () => ({ candidates: await job.store.countCandidates(at) }));
  const rolled = await roll();
  const mailed = await run(
    "proposals",
    (fail) => mailProposals(job, until(workMs * PROPOSALS_TIME_SHARE), fail),
  );
  const rates = await run("rates", () => refreshRates(job, until(workMs * RATES_TIME_SHARE)));
  const sent = await run(
    "reminders",
    (fail) => sendReminders(job, until(Math.max(workMs - KEPT_FOR_PAST_RATES_MS, workMs * 0.9)), fail),
  );
  const past = await run("past_rates", () => ratePastDays(job, until(workMs)));
  return {
    ok: [counted, rolled, mailed, sent, rates, past].every((counts) => counts !== null),
    candidates: counted?.candidates ?? 0,
    nextDueAdvanced: rolled?.advanced ?? 0,
    digestsSent: sent?.digests ?? 0,
    remindersSent: sent?.reminders ?? 0,
    fxRefreshed: rates?.refreshed ?? false,
    errors: problems.list(),
  };
}

const NOTHING_DONE = { candidates: 0, digestsSent: 0, remindersSent: 0, fxRefreshed: false };

type Counts = Readonly<Record<string, number | boolean>>;

/** Runs stages; a failed one returns null. The first stage that cannot reach the database ends the run. */
function stageRunner({ recordRun, clock, log }: Job, problems: Problems) {
  let reached = false;
  return async function run<Result extends Counts>(
    stage: string,
    work: (fail: Fail) => Promise<Result>,
  ): Promise<Result | null> {
    const startedAt = clock();
    let failedBy: string | null = null;
    const finish = async (counts: Counts, errorCode: string | null) => {
      reached = true;
      const status = errorCode ? "failed" as const : "ok" as const;
      await recordRun({
        period: startedAt.toISOString().slice(0, 10),
        stage,
        status,
        counts,
        errorCode,
        startedAt,
        finishedAt: clock(),
      }).catch((thrown) => log.error("job_run_not_recorded", { route: stage, error: describeError(thrown) }));
    };
    try {
      const counts = await work((code) => failedBy = code);
      await finish(counts, failedBy);
      return counts;
    } catch (thrown) {
      const error = toAppError(thrown);
      if (!reached && error.code === "unavailable") throw error;
      log.error("job_stage_failed", { route: stage, code: error.code, error: describeError(error) });
      problems.add({ stage, code: error.code, message: "This part of the job failed and will be tried again." });
      await finish({}, error.code);
      return null;
    }
  };
}
