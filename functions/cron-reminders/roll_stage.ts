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

/** @throws {AppError} what the database refused a page with, once the other pages came to their end. */
export async function rollBills({ store, clock }: Job, { problems, remainingMs }: Stage): Promise<Rolled> {
  const pages = await store.findRollingPages(clock());
  const rolled: Rolled = { advanced: 0, complete: true };
  const leave = (problem: { code: string; message: string; ref?: string }) => {
    rolled.complete = false;
    problems.add({ stage: "roll", ...problem });
  };
  const roll = async () => {
    while (pages.length > 0 && remainingMs() > 0) {
      const page = pages.shift()!;
      const { advanced, failed } = await store.rollBills({ page, at: clock() });
      rolled.advanced += advanced;
      for (const { ref } of failed) {
        leave({ code: "bill_not_rolled", message: "A bill could not be rolled forward.", ref });
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, roll));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  if (pages.length > 0) leave({ code: "out_of_time", message: "Some bills are left for the next run." });
  return rolled;
}
