/** Rolls every recurring bill whose due date has passed, page by page. */
import type { Cursor } from "../../shared/db/reminders_store.ts";
import type { Job, Stage } from "./stage.ts";

interface Rolled {
  advanced: number;
  /** Nothing that was due is left: the next run need not look that far back (jobs.rolled_until). */
  complete: boolean;
  [count: string]: number | boolean;
}

export async function rollBills(
  { store, clock }: Job,
  { problems, remainingMs }: Stage,
): Promise<Rolled> {
  let advanced = 0;
  let complete = true;
  let after: Cursor = null;
  do {
    if (remainingMs() <= 0) {
      complete = false;
      problems.add({ stage: "roll", code: "out_of_time", message: "Some bills are left for the next run." });
      break;
    }
    const page = await store.rollBills({ after, at: clock() });
    advanced += page.advanced;
    for (const { ref } of page.failed) {
      complete = false;
      problems.add({ stage: "roll", code: "bill_not_rolled", message: "A bill could not be rolled forward.", ref });
    }
    after = page.next;
  } while (after !== null);
  return { advanced, complete };
}
