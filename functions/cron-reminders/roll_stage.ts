/** Rolls every recurring bill with a past due date forward, page by page. */
import { describeError } from "../../shared/log.ts";
import type { Job, Stage } from "./stage.ts";

interface Rolled {
  advanced: number;
  /** Whether no past due date is left, so that the next run can start later (jobs.rolled_until). */
  complete: boolean;
  [count: string]: number | boolean;
}

/** Pages rolled in parallel. Two keep a small database busy and leave connections for others. */
const CONCURRENCY = 2;
/** Due dates per page. A page that was too large shrinks later ones by the factor. */
const PAGE = 2000;
const PAGE_SHRINK_FACTOR = 45;
/** How long the run retries a page with locked bills: longer than the statement timeout (8 s). */
const BUSY_RETRIES = { ms: 10_000, pauseMs: 500 };

/** @throws {AppError} the database's refusal of a single due date, after all other pages are done. */
export async function rollBills(job: Job, stage: Stage, retries = BUSY_RETRIES): Promise<Rolled> {
  let advanced = 0;
  for (let size = PAGE;; size = Math.max(1, Math.floor(size / PAGE_SHRINK_FACTOR))) {
    const round = await rollPages(job, stage, { size, retries });
    advanced += round.advanced;
    if (!round.refusal) return { advanced, complete: round.complete };
    job.log.error("page_not_rolled", { code: "page_not_rolled", error: describeError(round.refusal) });
    if (size === 1 || stage.remainingMs() <= 0) throw round.refusal;
  }
}

/** Runs each page once, and repeats pages with locked bills until done; a refused page does not stop the others. */
async function rollPages(
  { store }: Job,
  { problems, at, remainingMs }: Stage,
  { size, retries }: { size: number; retries: typeof BUSY_RETRIES },
) {
  const waiting = (await store.findRollingPages({ at, size })).map((page) => ({ page, notBefore: 0, until: Infinity }));
  const round = { advanced: 0, complete: true, refusal: undefined as unknown };
  const leave = (code: string, message: string, about: { ref?: string; count?: number } = {}) => {
    round.complete = false;
    problems.add({ stage: "roll", code, message, ...about });
  };
  const roll = async () => {
    while (waiting.length > 0 && remainingMs() > 0) {
      const { page, notBefore, until } = waiting.shift()!;
      await pause(notBefore - performance.now());
      try {
        const { advanced, failed, passed_over: passedOver } = await store.rollBills({ page, at });
        round.advanced += advanced;
        const now = performance.now();
        if (passedOver > 0 && now < until) {
          // Another run may have locked them and not yet committed their next dates. Their reminders must wait for
          // that commit.
          waiting.push({ page, notBefore: now + retries.pauseMs, until: Math.min(until, now + retries.ms) });
          continue;
        }
        if (passedOver > 0) {
          leave("bills_busy", "Some bills were continuously being written to.", { count: passedOver });
        }
        for (const { ref } of failed) leave("bill_not_rolled", "A bill could not be rolled forward.", { ref });
      } catch (thrown) {
        round.refusal ??= thrown;
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, roll));
  if (waiting.length > 0) leave("out_of_time", "Some bills are left for the next run.");
  return round;
}

const pause = (ms: number) => ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : undefined;
