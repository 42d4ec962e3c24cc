/** Nothing is lost and nothing is written twice, whoever dies when: after a claim, while asking, before or after the answer is kept. */
import { assert, assertEquals } from "@std/assert";
import type { Database, FunctionName } from "../../../shared/db/client.ts";
import { openDatabase } from "../../_support/database.ts";
import { asDatabase } from "../cron-reminders/harness.ts";
import { createSync, fakeProvider, registryOf, SECRET } from "./harness.ts";
import { addLinkedBills, fetched } from "./linked_bills.ts";

const database = await openDatabase();
Deno.test.afterAll(() => database.close());

const LINKS = 60;
const CRASHES = 12;

/** A process that ends at the n-th call of a function, before or after the database has heard it; whatever it asks then comes to nothing. */
function mortal(real: Database, { name, nth, isHeard }: { name: FunctionName; nth: number; isHeard: boolean }) {
  let count = 0;
  const process = { isDead: false };
  const check = () => {
    if (process.isDead) throw new Error("this process is dead");
  };
  const call: Database["call"] = async <Result>(called: FunctionName, args: Record<string, unknown>) => {
    check();
    const isLast = called === name && ++count === nth;
    if (isLast && !isHeard) process.isDead = true;
    check();
    const result = await real.call<Result>(called, args);
    if (isLast) process.isDead = true;
    check();
    return result;
  };
  return { process, database: { call } };
}

Deno.test("a run that dies half-way leaves what it had leased to a later one", async () => {
  await database.reset();
  await addLinkedBills(
    database,
    Array.from({ length: LINKS }, (_, index) => ({ provider: "power", credential: { account: String(index + 1) } })),
  );
  let now = Date.parse("2026-10-02T06:00:00Z");
  let crashes = 0;
  const places: [FunctionName, boolean][] = [
    ["claim_provider_link", true],
    ["keep_provider_answer", false],
    ["keep_provider_answer", true],
  ];
  const run = async () => {
    const [name, isHeard] = places[crashes % places.length]!;
    const { process, database: dying } = crashes < CRASHES
      ? mortal(asDatabase(database), { name, nth: 2 + crashes % 4, isHeard })
      : { process: { isDead: false }, database: asDatabase(database) };
    const power = fakeProvider("power", async ({ credential }) => {
      await Promise.resolve();
      if (process.isDead) throw new Error("this process is dead");
      return { amount: `${credential.account}.50`, currency: "USD" };
    });
    const { request } = createSync({ database: dying, registry: registryOf(power), now: () => new Date(now) });
    const response = await request(`/api/cron/provider-sync?secret=${SECRET}`);
    const { synced } = await response.json();
    if (process.isDead) crashes++;
    return synced;
  };
  let synced = 0;
  for (let runs = 0; synced !== LINKS; runs++) {
    assert(runs < 60, `only ${synced} after ${runs} runs and ${crashes} deaths`);
    synced = await run();
    // Leases run out in the meantime.
    now += 2 * 60_000;
  }
  assertEquals(crashes, CRASHES);
  for (const [n, bill] of await fetched(database)) assertEquals(bill, { amount: `${n}.50`, statements: 1 });
  const [changes] = await database.query(
    "select count(*)::int as count, count(distinct i.row_id)::int as rows from app.change_sets as c join app.change_items as i on i.change_id = c.id",
  );
  assertEquals(changes, { count: LINKS, rows: LINKS });
});
