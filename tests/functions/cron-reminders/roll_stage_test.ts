/** The stage runs some pages in parallel, each to completion, and reports every failure. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { rollBills } from "../../../functions/cron-reminders/roll_stage.ts";
import type { Job } from "../../../functions/cron-reminders/stage.ts";
import type { RolledPage, RollingPage } from "../../../shared/db/reminders_store.ts";
import { Problems } from "../../../shared/jobs/problems.ts";
import { createLog } from "../../../shared/log.ts";

/** Runs the stage over this many pages of ten bills; `roll` sets each page's outcome, by number. */
function stage(
  count: number,
  { roll = () => ({}), remainingMs = () => 1, patience = { ms: 10_000, pauseMs: 50 } }: {
    roll?: (page: number, look: number) => Partial<RolledPage>;
    remainingMs?: () => number;
    patience?: { ms: number; pauseMs: number };
  } = {},
) {
  const asked: number[] = [];
  const sizes: number[] = [];
  const at = new Date("2026-11-20T08:00:00Z");
  let underWay = 0;
  let most = 0;
  const store = {
    findRollingPages(given: { at: Date; size: number }) {
      assertEquals(given.at, at);
      sizes.push(given.size);
      return Promise.resolve(Array.from({ length: count }, (_, from) => ({ from, until: null })));
    },
    async rollBills({ page, ...given }: { page: RollingPage; at: Date }): Promise<RolledPage> {
      assertEquals(given.at, at);
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
  const job = { store, log: createLog(() => {}) } as unknown as Job;
  const rolling = rollBills(job, { problems, at, remainingMs }, patience);
  const told = () => problems.list().map(({ code, ref, count }) => ({ code, ref, count }));
  return { rolling, asked, sizes, most: () => most, told };
}

Deno.test("pages are rolled two at a time, once each, and failed bills are named", async () => {
  const failed = [{ ref: "bill_1", code: "P0001" }];
  const { rolling, asked, most, told } = stage(5, { roll: (page) => page === 1 ? { failed } : {} });
  assertEquals(await rolling, { advanced: 50, complete: false });
  assertEquals(asked.toSorted(), [0, 1, 2, 3, 4]);
  assertEquals(most(), 2);
  assertEquals(told(), [{ code: "bill_not_rolled", ref: "bill_1", count: 1 }]);
});

Deno.test("an empty roll stage does nothing", async () => {
  const { rolling, told } = stage(0);
  assertEquals(await rolling, { advanced: 0, complete: true });
  assertEquals(told(), []);
});

Deno.test("pages refused as a whole block no other, and are retried in smaller ones", async () => {
  const { rolling, asked, sizes, told } = stage(7, {
    roll(page, look) {
      if (page < 3 && look === 1) throw new Error(`planted ${page}`);
      return {};
    },
  });
  assertEquals(await rolling, { advanced: 4 * 10 + 7 * 10, complete: true });
  assertEquals(asked.slice(0, 7).toSorted(), [0, 1, 2, 3, 4, 5, 6]);
  assertEquals(sizes, [2000, 44]);
  assertEquals(told(), []);
});

Deno.test("a bill refused even in the smallest page fails the stage", async () => {
  const { rolling, sizes } = stage(3, {
    roll(page) {
      if (page > 0) throw new Error("planted");
      return {};
    },
  });
  await assertRejects(() => rolling, Error, "planted");
  assertEquals(sizes, [2000, 44, 1]);
});

Deno.test("work beyond the deadline is left for the next run and reported", async () => {
  let looks = 0;
  const { rolling, asked, told } = stage(9, { remainingMs: () => looks++ < 4 ? 1 : 0 });
  assertEquals(await rolling, { advanced: 40, complete: false });
  assertEquals(asked.length, 4);
  assertEquals(told(), [{ code: "out_of_time", ref: null, count: 1 }]);
});

Deno.test("locked bills are retried after the others and after a delay", async () => {
  const since = Date.now();
  const { rolling, asked, told } = stage(4, {
    roll: (page, look) => page !== 1 ? {} : look < 3 ? { advanced: 4, passed_over: 3 } : { advanced: 2 },
  });
  assertEquals(await rolling, { advanced: 40, complete: true });
  assertEquals([asked.length, asked.slice(-2)], [6, [1, 1]]);
  assertEquals(told(), []);
  // Only a lower bound, so a slow machine passes too.
  assert(Date.now() - since > 90);
});

Deno.test("permanently locked bills are left for the next run, and reported", async () => {
  const { rolling, asked, told } = stage(1, {
    roll: () => ({ advanced: 0, passed_over: 2 }),
    patience: { ms: 100, pauseMs: 20 },
  });
  assertEquals(await rolling, { advanced: 0, complete: false });
  assert(asked.length > 2 && asked.length < 9, `${asked.length} looks`);
  assertEquals(told(), [{ code: "bills_busy", ref: null, count: 2 }]);
});
