/** Concurrent registrations and the slots for unauthorized clients, with each caller in its own session. */
import { assert, assertEquals } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import { AT, createHousehold, newHash } from "./household.ts";

const AT_ONCE = 20;
const MAX_CLIENTS = 60;

const database = await sharedDatabase();

const register = (caller: string, at = AT) =>
  database.asService<{ outcome: string }>("register_client", {
    client_id: `client_${crypto.randomUUID()}`,
    client_name: "Client",
    redirect_uris: ["https://client.example/callback"],
    at,
    room: { caller, at_most: MAX_CLIENTS, seconds: 3600 },
  });

async function counts() {
  const [row] = await database.query<{ kept: number; counted: number; drifted: number }>(`
    select (select count(*)::int from oauth.clients where granted_at is null) as kept,
      (select coalesce(sum(u.kept), 0)::int from oauth.ungranted_counts as u where u.caller = '*') as counted,
      (select count(*)::int from (
        select registered_by, count(*) from oauth.clients where granted_at is null and registered_by is not null group by 1
        except select caller, kept from oauth.ungranted_counts where part = 0) as other) as drifted`);
  assertEquals([row!.counted, row!.drifted], [row!.kept, 0]);
  return row!.kept;
}

Deno.test("concurrent registrations exceed the limit by at most their number and evict no other client", async () => {
  for (let round = 0; round < 20; round++) {
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, n) => register(`caller ${round} ${n}`)),
    );
    assertEquals(new Set(answers.map(({ outcome }) => outcome)), new Set(["registered"]));
    const kept = await counts();
    assert(kept <= MAX_CLIENTS + AT_ONCE, `${kept} clients`);
  }
});

Deno.test("one caller's concurrent requests exceed its share by at most their number", async () => {
  await database.reset();
  const answers = await Promise.all(Array.from({ length: 200 }, () => register("one caller")));
  const registered = answers.filter(({ outcome }) => outcome === "registered").length;
  assertEquals(registered, await counts());
  // As many as the pool has sessions.
  assert(registered >= 3 && registered <= 3 + 30, `${registered} of 200`);
});

Deno.test("concurrent registrations, connections and purges never deadlock, and the counts stay correct", async () => {
  await database.reset();
  const later = "2026-11-29T10:00:00Z";
  for (let round = 0; round < 10; round++) {
    const households = await Promise.all(Array.from({ length: 5 }, () => createHousehold(database)));
    await Promise.all([
      ...Array.from({ length: AT_ONCE }, (_, n) => register(`caller ${n % 7}`, later)),
      ...households.map((household) =>
        database.asService("redeem_authorization_code", {
          ...household.newCode(),
          access_token_hash: newHash(),
          refresh_token_hash: newHash(),
        })
      ),
      database.query("select jobs.purge_expired($1)", [later]),
    ]);
    await counts();
  }
});
