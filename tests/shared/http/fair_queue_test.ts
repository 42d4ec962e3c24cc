import { assertEquals } from "@std/assert";
import { FairQueue, type Kind } from "../../../shared/http/fair_queue.ts";
import { fakeTimer } from "../../_support/fake_timer.ts";

const LIMITS = { places: 2, unproven: 2, waiting: 6, waitMs: 10_000 };

/** Records the order in which waiting callers are served. */
function waitingIn(queue: FairQueue) {
  const served: string[] = [];
  const turnedAway: string[] = [];
  const waits: Promise<void>[] = [];
  return {
    served,
    turnedAway,
    add(whose: string) {
      waits.push(queue.enter("unproven", whose).then((admitted) => void (admitted ? served : turnedAway).push(whose)));
    },
    /** A served caller leaves at once. */
    async drain(places = LIMITS.places) {
      for (let left = 0; left < places + LIMITS.waiting; left++) {
        queue.leave("unproven");
        await Promise.resolve();
      }
      await Promise.all(waits);
    },
  };
}

const full = (limits = LIMITS, timer = fakeTimer().timer) => {
  const queue = new FairQueue(limits, timer);
  for (let place = 0; place < limits.places; place++) queue.tryEnter("unproven");
  return queue;
};

Deno.test("FairQueue admits at once while there is a place", () => {
  const queue = new FairQueue(LIMITS);
  assertEquals([queue.tryEnter("unproven"), queue.tryEnter("unproven"), queue.tryEnter("unproven")], [
    true,
    true,
    false,
  ]);
  queue.leave("unproven");
  assertEquals(queue.tryEnter("unproven"), true);
});

Deno.test("FairQueue serves callers in turn, however many requests each has", async () => {
  const waiting = waitingIn(full());
  for (const whose of ["greedy", "greedy", "greedy", "greedy", "modest", "shy"]) waiting.add(whose);
  await waiting.drain();
  assertEquals(waiting.served, ["greedy", "modest", "shy", "greedy", "greedy", "greedy"]);
});

Deno.test("FairQueue evicts the newest request of the caller with the most when full", async () => {
  const waiting = waitingIn(full());
  for (let n = 0; n < 10; n++) waiting.add("greedy");
  waiting.add("modest");
  waiting.add("shy");
  await waiting.drain();
  assertEquals(waiting.served, ["greedy", "modest", "shy", "greedy", "greedy", "greedy"]);
  assertEquals(waiting.turnedAway, Array.from({ length: 6 }, () => "greedy"));
});

Deno.test("FairQueue evicts no request of a caller with only one more waiting", async () => {
  const waiting = waitingIn(full());
  for (const whose of ["one", "one", "one", "another", "another", "third", "another"]) waiting.add(whose);
  await waiting.drain();
  assertEquals(waiting.turnedAway, ["another"]);
});

Deno.test("FairQueue evicts requests that waited too long and keeps its count", async () => {
  const { timer, pass, pending } = fakeTimer();
  const queue = full({ ...LIMITS, waitMs: 1_200 }, timer);
  const one = queue.enter("unproven", "one");
  await pass(1_199);
  const next = queue.enter("unproven", "another");
  await pass(1);
  assertEquals(await one, false);
  queue.leave("unproven");
  assertEquals([await next, pending()], [true, 0]);
  queue.leave("unproven");
  queue.leave("unproven");
  assertEquals([queue.tryEnter("unproven"), queue.tryEnter("unproven"), queue.tryEnter("unproven")], [
    true,
    true,
    false,
  ]);
});

Deno.test("FairQueue reserves places for verified callers and alternates between both lines", async () => {
  const queue = new FairQueue({ places: 3, unproven: 2, waiting: 6, waitMs: 10_000 }, fakeTimer().timer);
  const served: string[] = [];
  const enter = (kind: Kind, whose: string) =>
    queue.enter(kind, whose).then((admitted) => admitted && served.push(`${kind} ${whose}`));
  const all = ["one", "two", "three", "four"].map((whose) => enter("unproven", whose));
  await Promise.resolve();
  assertEquals(served, ["unproven one", "unproven two"]);
  all.push(enter("proven", "a"));
  await Promise.resolve();
  assertEquals(served.at(-1), "proven a");
  all.push(enter("proven", "b"), enter("proven", "c"));
  for (const kind of ["unproven", "proven", "unproven", "proven"] as const) {
    queue.leave(kind);
    await Promise.resolve();
  }
  await Promise.all(all);
  assertEquals(served.slice(3), ["proven b", "unproven three", "proven c", "unproven four"]);
});

Deno.test("FairQueue counts a returned place beyond its limit", () => {
  const queue = full();
  queue.leave("unproven");
  assertEquals(queue.tryEnter("unproven"), true);
  queue.takeBack("unproven");
  queue.leave("unproven");
  assertEquals(queue.tryEnter("unproven"), false);
  queue.leave("unproven");
  assertEquals(queue.tryEnter("unproven"), true);
});
