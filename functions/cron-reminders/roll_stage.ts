/** Rolls every recurring bill whose due date has passed, page by page. */
import { describeError } from "../../shared/log.ts";
import type { Job, Stage } from "./stage.ts";

interface Rolled {
  advanced: number;
  /** Nothing that was due is left: the next run need not look that far back (jobs.rolled_until). */
  complete: boolean;
  [count: string]: number | boolean;
}

/** Pages that are rolled at once. Two keep a small database busy and leave the others their connections. */
const AT_ONCE = 2;
/** Due dates on a page, and by how much the next pages shrink when one was too much. */
const PAGE = 2000;
const PAGE_SHRINK_FACTOR = 45;
/** How long a page is tried again while somebody else writes to its bills: longer than a statement may take (8 s). */
const BUSY_RETRIES = { ms: 10_000, pauseMs: 500 };

/** @throws {AppError} what the database refused even a single due date with, once all others came to their end. */
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

/** Every page once, and those with busy bills as often as it takes; one that is refused stops no other. */
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
          // They may be another run's, which has not said yet where they go: what reminds of them has to wait for that.
          waiting.push({ page, notBefore: now + retries.pauseMs, until: Math.min(until, now + retries.ms) });
          continue;
        }
        if (passedOver > 0) {
          leave("bills_busy", "Some bills were being written to all the time.", { count: passedOver });
        }
        for (const { ref } of failed) leave("bill_not_rolled", "A bill could not be rolled forward.", { ref });
      } catch (thrown) {
        round.refusal ??= thrown;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, roll));
  if (waiting.length > 0) leave("out_of_time", "Some bills are left for the next run.");
  return round;
}

const pause = (ms: number) => ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : undefined;
