/**
 * Runs the job repeatedly while its processes die: after a claim, after an answer arrives, or after it is stored. A
 * dead process reports nothing, so its leases must expire.
 */
import { assert, assertEquals } from "@std/assert";
import type { Database } from "../../../shared/db/client.ts";
import type { TestDatabase } from "../../_support/database.ts";
import { asDatabase } from "../cron-reminders/harness.ts";
import { createSync, fakeProvider, registryOf, SECRET } from "./harness.ts";
import { addLinkedBills, fetched } from "./linked_bills.ts";

export interface CrashPlan {
  /** Number of processes that die. */
  crashes: number;
  /** Concurrent processes. */
  parallel: number;
}

/** More links than a process can handle before it dies. */
const LINKS_EACH = 16;

const PLACES: [name: string, isHeard: boolean][] = [
  ["claim_provider_link", true],
  ["keep_provider_answer", false],
  ["keep_provider_answer", true],
];

export async function crashUntilDone(database: TestDatabase, { crashes, parallel }: CrashPlan): Promise<void> {
  const links = crashes * LINKS_EACH;
  await addLinkedBills(
    database,
    Array.from({ length: links }, (_, index) => ({ provider: "power", credential: { account: String(index + 1) } })),
  );
  let now = Date.parse("2026-10-02T06:00:00Z");
  let begun = 0;
  let dead = 0;
  const run = async () => {
    const [name, isHeard] = PLACES[begun % PLACES.length]!;
    const process = begun < crashes
      ? crashingDatabase(asDatabase(database), { name, nth: 2 + begun % 4, isHeard })
      : undefined;
    begun++;
    const power = fakeProvider("power", async ({ credential }) => {
      await Promise.resolve();
      process?.check();
      return { amount: `${credential.account}.50`, currency: "USD" };
    });
    const { request } = createSync({
      database: process?.database ?? asDatabase(database),
      registry: registryOf(power),
      now: () => new Date(now),
    });
    const { synced } = await (await request(`/api/cron/provider-sync?secret=${SECRET}`)).json();
    if (process?.isDead()) dead++;
    return synced as number;
  };
  for (let synced = 0, rounds = 0; synced !== links; rounds++) {
    assert(rounds < 60, `only ${synced} after ${rounds} rounds and ${dead} deaths`);
    synced = Math.max(...await Promise.all(Array.from({ length: parallel }, run)));
    // Leases expire in the meantime.
    now += 2 * 60_000;
  }
  assertEquals(dead, crashes);
  for (const [n, bill] of await fetched(database)) assertEquals(bill, { amount: `${n}.50`, statements: 1 });
  const [written] = await database.query(
    `select count(*)::int as changes, count(distinct i.row_id)::int as rows
     from app.change_sets as c join app.change_items as i on i.change_id = c.id`,
  );
  assertEquals(written, { changes: links, rows: links });
}

/**
 * A process that dies at its n-th call of a function, before or after the database receives it; later calls never
 * resolve.
 */
function crashingDatabase(
  real: Database,
  { name, nth, isHeard }: { name: string; nth: number; isHeard: boolean },
) {
  let count = 0;
  let isDead = false;
  const check = () => {
    if (isDead) throw new Error("this process is dead");
  };
  const call: Database["call"] = async (called, args) => {
    check();
    const isLast = called === name && ++count === nth;
    if (isLast && !isHeard) isDead = true;
    check();
    const result = await real.call(called, args);
    if (isLast) isDead = true;
    check();
    return result;
  };
  return { check, isDead: () => isDead, database: { call } };
}
