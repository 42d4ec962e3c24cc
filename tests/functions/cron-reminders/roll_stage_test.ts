/** How the stage goes through its pages: some at once, each to its end, and none that nobody hears of. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { rollBills } from "../../../functions/cron-reminders/roll_stage.ts";
import type { Job } from "../../../functions/cron-reminders/stage.ts";
import type { RolledPage, RollingPage } from "../../../shared/db/reminders_store.ts";
import { Problems } from "../../../shared/jobs/problems.ts";

/** Runs the stage over so many pages of ten bills; `roll` says what else becomes of a page, by its number. */
function stage(
  count: number,
  { roll = () => ({}), remainingMs = () => 1 }: {
    roll?: (page: number, look: number) => Partial<RolledPage>;
    remainingMs?: () => number;
  } = {},
) {
  const asked: number[] = [];
  let underWay = 0;
  let most = 0;
  const store = {
    findRollingPages: () => Promise.resolve(Array.from({ length: count }, (_, from) => ({ from, until: null }))),
    async rollBills({ page }: { page: RollingPage }): Promise<RolledPage> {
      const number = page.from as number;
      asked.push(number);
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setTimeout(resolve, 1));
      underWay--;
      const look = asked.filter((one) => one === number).length;
      return { advanced: 10, failed: [], passed_over: 0, ...roll(number, look) };
    },
  };
  const problems = new Problems();
  const job = { store, clock: () => new Date() } as unknown as Job;
  const rolling = rollBills(job, { problems, remainingMs });
  const told = () => problems.list().map(({ code, ref, count }) => ({ code, ref, count }));
  return { rolling, asked, most: () => most, told };
}

Deno.test("pages are rolled two at once, each one time, and what failed is named", async () => {
  const failed = [{ ref: "bill_1", code: "P0001" }];
  const { rolling, asked, most, told } = stage(5, { roll: (page) => page === 1 ? { failed } : {} });
  assertEquals(await rolling, { advanced: 50, complete: false });
  assertEquals(asked.toSorted(), [0, 1, 2, 3, 4]);
  assertEquals(most(), 2);
  assertEquals(told(), [{ code: "bill_not_rolled", ref: "bill_1", count: 1 }]);
});

Deno.test("without pages there is nothing to do", async () => {
  const { rolling, told } = stage(0);
  assertEquals(await rolling, { advanced: 0, complete: true });
  assertEquals(told(), []);
});

Deno.test("pages that are refused as a whole stop no other, and then fail the stage", async () => {
  const { rolling, asked } = stage(7, {
    roll(page) {
      if (page < 3) throw new Error(`planted ${page}`);
      return {};
    },
  });
  await assertRejects(() => rolling, Error, "planted 0");
  assertEquals(asked.toSorted(), [0, 1, 2, 3, 4, 5, 6]);
});

Deno.test("what there is no time for is left for the next run, which is told", async () => {
  let looks = 0;
  const { rolling, asked, told } = stage(9, { remainingMs: () => looks++ < 4 ? 1 : 0 });
  assertEquals(await rolling, { advanced: 40, complete: false });
  assertEquals(asked.length, 4);
  assertEquals(told(), [{ code: "out_of_time", ref: null, count: 1 }]);
});

Deno.test("bills that somebody is writing to are looked at again, after the others and after a while", async () => {
  const since = performance.now();
  const { rolling, asked, told } = stage(4, {
    roll: (page, look) => page !== 1 ? {} : look < 3 ? { advanced: 4, passed_over: 3 } : { advanced: 2 },
  });
  assertEquals(await rolling, { advanced: 40, complete: true });
  assertEquals([asked.length, asked.slice(-2)], [6, [1, 1]]);
  assertEquals(told(), []);
  assert(performance.now() - since > 900);
});

Deno.test("bills that somebody writes to all the time are left for the next run, which is told", async () => {
  const { rolling, asked, told } = stage(1, { roll: () => ({ advanced: 0, passed_over: 2 }) });
  assertEquals(await rolling, { advanced: 0, complete: false });
  assertEquals(asked.length, 6);
  assertEquals(told(), [{ code: "bills_busy", ref: null, count: 2 }]);
});
