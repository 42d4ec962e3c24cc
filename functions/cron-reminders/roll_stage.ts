/** Rolls every recurring bill whose due date has passed, page by page. */
import type { Job, Stage } from "./stage.ts";

interface Rolled {
  advanced: number;
  /** Nothing that was due is left: the next run need not look that far back (jobs.rolled_until). */
  complete: boolean;
  [count: string]: number | boolean;
}

/** Pages that are rolled at once. Two keep a small database busy and leave the others their connections. */
const AT_ONCE = 2;
/** How often a page is looked at while somebody else writes to some of its bills, and how long they are given in between. */
const MOST_LOOKS = 6;
const PAUSE_MS = 500;

/** @throws {AppError} what the database refused a page with, once the other pages came to their end. */
export async function rollBills({ store, clock }: Job, { problems, remainingMs }: Stage): Promise<Rolled> {
  const waiting = (await store.findRollingPages(clock())).map((page) => ({ page, looks: 0, notBefore: 0 }));
  const rolled: Rolled = { advanced: 0, complete: true };
  const refusals: unknown[] = [];
  const leave = (code: string, message: string, about: { ref?: string; count?: number } = {}) => {
    rolled.complete = false;
    problems.add({ stage: "roll", code, message, ...about });
  };
  const roll = async () => {
    while (waiting.length > 0 && remainingMs() > 0) {
      const { page, looks, notBefore } = waiting.shift()!;
      await pause(notBefore - performance.now());
      try {
        const { advanced, failed, passed_over: passedOver } = await store.rollBills({ page, at: clock() });
        rolled.advanced += advanced;
        if (passedOver > 0 && looks + 1 < MOST_LOOKS) {
          // They may be another run's, which has not said yet where they go: what reminds of them has to wait for that.
          waiting.push({ page, looks: looks + 1, notBefore: performance.now() + PAUSE_MS });
          continue;
        }
        if (passedOver > 0) {
          leave("bills_busy", "Some bills were being written to all the time.", { count: passedOver });
        }
        for (const { ref } of failed) leave("bill_not_rolled", "A bill could not be rolled forward.", { ref });
      } catch (thrown) {
        refusals.push(thrown);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, roll));
  if (refusals.length > 0) throw refusals[0];
  if (waiting.length > 0) leave("out_of_time", "Some bills are left for the next run.");
  return rolled;
}

const pause = (ms: number) => ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : undefined;
