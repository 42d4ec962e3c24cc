import { assertEquals } from "@std/assert";
import { FairQueue } from "../../../shared/http/fair_queue.ts";

const LIMITS = { places: 2, waiting: 6, waitMs: 10_000 };

/** Notes in which order those who wait are served. */
function waitingIn(queue: FairQueue) {
  const served: string[] = [];
  const turnedAway: string[] = [];
  const waits: Promise<void>[] = [];
  return {
    served,
    turnedAway,
    add(whose: string) {
      waits.push(queue.enter(whose).then((admitted) => void (admitted ? served : turnedAway).push(whose)));
    },
    /** Whoever is served leaves at once. */
    async drain(places = LIMITS.places) {
      for (let left = 0; left < places + LIMITS.waiting; left++) {
        queue.leave();
        await Promise.resolve();
      }
      await Promise.all(waits);
    },
  };
}

const full = (limits = LIMITS) => {
  const queue = new FairQueue(limits);
  for (let place = 0; place < limits.places; place++) queue.tryEnter();
  return queue;
};

Deno.test("FairQueue admits at once while there is a place", () => {
  const queue = new FairQueue(LIMITS);
  assertEquals([queue.tryEnter(), queue.tryEnter(), queue.tryEnter()], [true, true, false]);
  queue.leave();
  assertEquals(queue.tryEnter(), true);
});

Deno.test("FairQueue serves one of each in turn, however many one of them has", async () => {
  const waiting = waitingIn(full());
  for (const whose of ["greedy", "greedy", "greedy", "greedy", "modest", "shy"]) waiting.add(whose);
  await waiting.drain();
  assertEquals(waiting.served, ["greedy", "modest", "shy", "greedy", "greedy", "greedy"]);
});

Deno.test("FairQueue turns away the newest of whoever has most when too many wait", async () => {
  const waiting = waitingIn(full());
  for (let n = 0; n < 10; n++) waiting.add("greedy");
  waiting.add("modest");
  waiting.add("shy");
  await waiting.drain();
  assertEquals(waiting.served, ["greedy", "modest", "shy", "greedy", "greedy", "greedy"]);
  assertEquals(waiting.turnedAway, Array.from({ length: 6 }, () => "greedy"));
});

Deno.test("FairQueue takes nothing from a caller with one more waiting than the asker", async () => {
  const waiting = waitingIn(full());
  for (const whose of ["one", "one", "one", "another", "another", "third", "another"]) waiting.add(whose);
  await waiting.drain();
  assertEquals(waiting.turnedAway, ["another"]);
});

Deno.test("FairQueue turns away who has waited too long, and keeps the places right", async () => {
  const queue = full({ ...LIMITS, waitMs: 5 });
  assertEquals(await queue.enter("one"), false);
  const next = queue.enter("another");
  queue.leave();
  assertEquals(await next, true);
  queue.leave();
  queue.leave();
  assertEquals([queue.tryEnter(), queue.tryEnter(), queue.tryEnter()], [true, true, false]);
});
