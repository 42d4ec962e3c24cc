/** The limit of a person's connections in an organization, and the connection that it ends. */
import { assertEquals } from "@std/assert";
import { hashToken } from "../../../shared/oauth/tokens.ts";
import { sharedDatabase } from "../../_support/database.ts";
import { connect, createHarness, createPerson, outcomeOf, over, refreshFields, registerClient } from "./harness.ts";

const database = await sharedDatabase();

Deno.test("the twenty-first connection ends the longest idle one, and the audit trail records it", async () => {
  const person = await createPerson(database, "grants@example.com", ["team", "pro"]);
  const neighbour = await createPerson(database, "neighbour@example.com", ["team"]);
  const harness = createHarness(over(database), { rateLimits: "off" });
  const clientId = await registerClient(harness);
  const [team, pro] = person.organizations as [string, string];
  const outcome = (token: string) => outcomeOf(database, token, harness.clock.now);

  const theirs = await connect(harness, { clientId, person: neighbour });
  const elsewhere = await connect(harness, { clientId, person, organizationId: pro });
  const connections = [];
  for (let n = 0; n < 20; n++) {
    harness.later(1);
    connections.push(await connect(harness, { clientId, person, organizationId: team }));
  }
  // The oldest connection is used again, so the second oldest has been idle longest.
  harness.later(1);
  const [oldest, second, third] = connections as [typeof theirs, typeof theirs, typeof theirs];
  const use = { token_hash: hashToken(oldest.access_token), at: harness.clock.now };
  const uses = [await database.asService("record_use", use), await database.asService("record_use", use)];
  assertEquals(uses, [{ outcome: "recorded" }, { outcome: "recent" }]);
  for (const { access_token } of connections) assertEquals(await outcome(access_token), "ok");

  harness.later(1);
  const newest = await connect(harness, { clientId, person, organizationId: team });
  const alive = await Promise.all([newest, oldest, third, elsewhere, theirs].map((t) => outcome(t.access_token)));
  assertEquals(alive, Array(5).fill("ok"));
  assertEquals(await outcome(second.access_token), "invalid_token");
  const refused = await harness.post("token", refreshFields(clientId, second.refresh_token));
  assertEquals((await refused.json()).error, "invalid_grant");
  const events = await database.query(
    "select event, detail ->> 'reason' as reason from identity.audit_events where actor_id = $1 and event = 'grant.revoked'",
    [person.id],
  );
  assertEquals(events, [{ event: "grant.revoked", reason: "too_many" }]);
});

Deno.test("a client counts as used permanently after its first grant", async () => {
  const person = await createPerson(database, "granted@example.com", ["team"]);
  const harness = createHarness(over(database));
  const clientId = await registerClient(harness);
  const grantedAt = async () =>
    (await database.query<{ granted_at: string | null }>("select granted_at from oauth.clients where client_id = $1", [
      clientId,
    ]))[0]!.granted_at;
  assertEquals(await grantedAt(), null);
  await connect(harness, { clientId, person });
  const first = await grantedAt();
  assertEquals(first, "2026-11-20T10:00:00+00:00");
  harness.later(60);
  await connect(harness, { clientId, person });
  assertEquals(await grantedAt(), first);
});
