/** How the stage goes through its pages: some at once, each to its end, and none that nobody hears of. */
import { assertEquals, assertRejects } from "@std/assert";
import { rollBills } from "../../../functions/cron-reminders/roll_stage.ts";
import type { Job } from "../../../functions/cron-reminders/stage.ts";
import type { RollingPage } from "../../../shared/db/reminders_store.ts";
import { Problems } from "../../../shared/jobs/problems.ts";

/** Runs the stage over so many pages of ten bills; `roll` decides about a page by its number. */
function stage(
  count: number,
  { roll = () => {}, remainingMs = () => 1 }: { roll?: (page: number) => void; remainingMs?: () => number },
) {
  const asked: number[] = [];
  let underWay = 0;
  let most = 0;
  const store = {
    findRollingPages: () => Promise.resolve(Array.from({ length: count }, (_, from) => ({ from, until: null }))),
    async rollBills({ page }: { page: RollingPage }) {
      asked.push(page.from as number);
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setTimeout(resolve, 1));
      underWay--;
      roll(page.from as number);
      return { advanced: 10, failed: page.from === 1 ? [{ ref: "bill_1", code: "P0001" }] : [] };
    },
  };
  const problems = new Problems();
  const job = { store, clock: () => new Date() } as unknown as Job;
  const rolling = rollBills(job, { problems, remainingMs });
  return { rolling, asked, most: () => most, codes: () => problems.list().map(({ code, ref }) => [code, ref]) };
}

Deno.test("pages are rolled two at once, each one time, and what failed is named", async () => {
  const { rolling, asked, most, codes } = stage(5, {});
  assertEquals(await rolling, { advanced: 50, complete: false });
  assertEquals(asked.toSorted(), [0, 1, 2, 3, 4]);
  assertEquals(most(), 2);
  assertEquals(codes(), [["bill_not_rolled", "bill_1"]]);
});

Deno.test("without pages there is nothing to do", async () => {
  const { rolling, codes } = stage(0, {});
  assertEquals(await rolling, { advanced: 0, complete: true });
  assertEquals(codes(), []);
});

Deno.test("a page that is refused as a whole fails the stage after the others came to their end", async () => {
  const { rolling, asked } = stage(6, {
    roll(page) {
      if (page === 0) throw new Error("planted");
    },
  });
  await assertRejects(() => rolling, Error, "planted");
  assertEquals(asked.toSorted(), [0, 1, 2, 3, 4, 5]);
});

Deno.test("what there is no time for is left for the next run, which is told", async () => {
  let looks = 0;
  const { rolling, asked, codes } = stage(9, { remainingMs: () => looks++ < 4 ? 1 : 0 });
  assertEquals(await rolling, { advanced: 40, complete: false });
  assertEquals(asked.length, 4);
  assertEquals(codes(), [["bill_not_rolled", "bill_1"], ["out_of_time", null]]);
});
