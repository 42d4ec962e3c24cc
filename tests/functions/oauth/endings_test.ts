/** What else ends a connection: the person, the organization or the membership is gone. And how tokens are made. */
import { assertEquals, assertMatch } from "@std/assert";
import { openDatabase } from "../../_support/database.ts";
import { connect, createHarness, createPerson, outcomeOf, over, refreshFields, registerClient } from "./harness.ts";

const database = await openDatabase();
Deno.test.afterAll(() => database.close());
const harness = createHarness(over(database));
const clientId = await registerClient(harness);

const ENDS: Record<string, (person: { id: string; organizations: string[] }) => [string, unknown[]]> = {
  "the person is deleted": ({ id }) => ["delete from auth.users where id = $1", [id]],
  "the organization is deleted": ({ organizations }) => [
    "delete from identity.organizations where id = $1",
    [organizations[0]],
  ],
  "the membership ends": ({ id, organizations }) => [
    "delete from identity.memberships where user_id = $1 and organization_id = $2",
    [id, organizations[0]],
  ],
};

let number = 0;
for (const [what, end] of Object.entries(ENDS)) {
  Deno.test(`tokens are worth nothing from the next request on when ${what}`, async () => {
    const person = await createPerson(database, `ending-${number++}@example.com`, ["team", "pro"]);
    const tokens = await connect(harness, { clientId, person });
    assertEquals(await outcomeOf(database, tokens.access_token, harness.clock.now), "ok");
    if (what === "the person is deleted") {
      await database.query("delete from identity.organizations where owner_id = $1", [person.id]);
    }
    await database.query(...end(person));
    assertEquals(await outcomeOf(database, tokens.access_token, harness.clock.now), "invalid_token");
    const refused = await harness.post("token", refreshFields(clientId, tokens.refresh_token));
    assertEquals([refused.status, (await refused.json()).error], [400, "invalid_grant"]);
  });
}

Deno.test("tokens are 256 bits that have nothing in common with each other", async () => {
  const person = await createPerson(database, "random@example.com", ["team"]);
  const tokens = await Promise.all(Array.from({ length: 10 }, () => connect(harness, { clientId, person })));
  const secrets = tokens.flatMap(({ access_token, refresh_token }) => [access_token, refresh_token]);
  for (const secret of secrets) assertMatch(secret, /^exp_[ar]t_[A-Za-z0-9_-]{43}$/);
  const parts = secrets.flatMap((secret) => secret.slice(7).match(/.{6}/g)!);
  assertEquals(new Set(parts).size, parts.length);
});
