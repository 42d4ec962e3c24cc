import { assertEquals, assertNotEquals } from "@std/assert";
import { sharedDatabase } from "../../_support/database.ts";
import {
  connect,
  createHarness,
  createPerson,
  type Fields,
  outcomeOf,
  over,
  refreshFields,
  registerClient,
} from "./harness.ts";

const database = await sharedDatabase();
const person = await createPerson(database, "refresh@example.com", ["team", "pro"]);

async function start(config = {}) {
  const harness = createHarness(over(database), config);
  const clientId = await registerClient(harness);
  const tokens = await connect(harness, { clientId, person });
  harness.calls.length = 0;
  const refresh = async (refreshToken: string, more: Fields = {}) => {
    const response = await harness.post("token", refreshFields(clientId, refreshToken, more));
    return { status: response.status, body: await response.json() };
  };
  const outcome = (accessToken: string) => outcomeOf(database, accessToken, harness.clock.now);
  return { harness, clientId, tokens, refresh, outcome };
}

const events = async (grantReason: string) =>
  (await database.query<{ reason: string }>(
    "select detail ->> 'reason' as reason from identity.audit_events where event = 'grant.revoked' and detail ->> 'reason' = $1",
    [grantReason],
  )).length;

Deno.test("a refresh token is exchanged for a new pair by one database call", async () => {
  const { harness, tokens, refresh, outcome } = await start();
  const { status, body } = await refresh(tokens.refresh_token);
  assertEquals(status, 200);
  assertEquals({ ...body, access_token: 0, refresh_token: 0 }, {
    access_token: 0,
    token_type: "Bearer",
    expires_in: 3600,
    refresh_token: 0,
    scope: "expenses:rw",
  });
  assertNotEquals(body.access_token, tokens.access_token);
  assertEquals(harness.calls, ["rotate_refresh_token"]);
  assertEquals([await outcome(body.access_token), await outcome(tokens.access_token)], ["ok", "ok"]);
});

Deno.test("within a minute the same token gets the same pair, with the remaining lifetime", async () => {
  const { harness, tokens, refresh } = await start();
  const first = await refresh(tokens.refresh_token);
  harness.later(60);
  const again = await refresh(tokens.refresh_token);
  assertEquals(again, { status: 200, body: { ...first.body, expires_in: 3540 } });
  assertEquals(again.body.refresh_token === tokens.refresh_token, false);
});

Deno.test("a thief who rotates twice before the client ends the grant within the minute", async () => {
  const { harness, clientId, tokens, refresh, outcome } = await start();
  const other = await connect(harness, { clientId, person });
  const { body: second } = await refresh(tokens.refresh_token);
  const { body: third } = await refresh(second.refresh_token);
  const before = await events("refresh_token_replayed");
  harness.later(1);
  assertEquals((await refresh(tokens.refresh_token)).body.error, "invalid_grant");
  assertEquals(await events("refresh_token_replayed"), before + 1);
  for (const { access_token } of [tokens, second, third]) assertEquals(await outcome(access_token), "invalid_token");
  assertEquals((await refresh(third.refresh_token)).body.error, "invalid_grant");
  assertEquals(await outcome(other.access_token), "ok");
  assertEquals((await refresh(other.refresh_token)).status, 200);
});

Deno.test("processes that share a login and retry in turn for a minute stay connected", async () => {
  const { harness, tokens, refresh, outcome } = await start();
  const { body: second } = await refresh(tokens.refresh_token);
  for (let n = 0; n < 12; n++) {
    harness.later(5);
    assertEquals((await refresh(tokens.refresh_token)).body.refresh_token, second.refresh_token);
  }
  // An hour later all of them need the successor.
  harness.later(3_600);
  const { body: third } = await refresh(second.refresh_token);
  assertEquals((await refresh(second.refresh_token)).body.refresh_token, third.refresh_token);
  assertEquals(await outcome(third.access_token), "ok");
});

Deno.test("replaying a token after a minute ends its grant and no other", async () => {
  const { harness, clientId, tokens, refresh, outcome } = await start();
  const other = await connect(harness, { clientId, person });
  const { body: second } = await refresh(tokens.refresh_token);
  const { body: third } = await refresh(second.refresh_token);
  harness.later(61);
  const before = await events("refresh_token_replayed");
  assertEquals((await refresh(tokens.refresh_token)).body.error, "invalid_grant");
  assertEquals(await events("refresh_token_replayed"), before + 1);
  for (const { access_token } of [tokens, second, third]) assertEquals(await outcome(access_token), "invalid_token");
  assertEquals((await refresh(third.refresh_token)).body.error, "invalid_grant");
  assertEquals(await outcome(other.access_token), "ok");
  assertEquals((await refresh(other.refresh_token)).status, 200);
});

Deno.test("replaying a token after a minute ends its grant even if nobody used the successor", async () => {
  const { harness, tokens, refresh, outcome } = await start();
  const { body: second } = await refresh(tokens.refresh_token);
  harness.later(61);
  assertEquals((await refresh(tokens.refresh_token)).body.error, "invalid_grant");
  assertEquals(await outcome(second.access_token), "invalid_token");
});

Deno.test("another client can neither use a refresh token nor end its grant", async () => {
  const { harness, tokens, refresh, outcome } = await start();
  const other = await registerClient(harness);
  const { body: second } = await refresh(tokens.refresh_token);
  harness.later(61);
  for (const token of [tokens.refresh_token, second.refresh_token]) {
    assertEquals((await refresh(token, { client_id: other })).body.error, "invalid_grant");
  }
  assertEquals(await outcome(second.access_token), "ok");
  assertEquals((await refresh(second.refresh_token)).status, 200);
});

Deno.test("neither scope nor resource of a refresh changes the grant", async () => {
  const { tokens, refresh } = await start();
  const { body } = await refresh(tokens.refresh_token, {
    scope: "admin openid",
    resource: "https://EXPENSES.example/",
  });
  assertEquals(body.scope, "expenses:rw");
  const refused = await refresh(body.refresh_token, { resource: "https://other.example/mcp" });
  assertEquals([refused.status, refused.body.error], [400, "invalid_target"]);
});

Deno.test("an invalid refresh token is rejected like a dead one, with one database call", async () => {
  const { harness, tokens, refresh } = await start();
  const dead = await refresh(`exp_rt_${"x".repeat(43)}`);
  assertEquals([dead.status, dead.body.error], [400, "invalid_grant"]);
  for (const token of [tokens.access_token, "x", `${tokens.refresh_token}\u0000`]) {
    harness.calls.length = 0;
    assertEquals(await refresh(token), dead);
    assertEquals(harness.calls.length, 1);
  }
  assertEquals(await refresh(tokens.refresh_token, { client_id: "client_gone" }).then(({ status }) => status), 401);
});

Deno.test("access lasts an hour, a refresh token thirty days, a grant half a year however often it is refreshed", async () => {
  const { harness, tokens, refresh, outcome } = await start();
  harness.later(3599);
  assertEquals(await outcome(tokens.access_token), "ok");
  harness.later(1);
  assertEquals(await outcome(tokens.access_token), "invalid_token");

  let token = tokens.refresh_token;
  const days = (count: number) => harness.later(count * 86_400);
  for (let round = 0; round < 6; round++) {
    days(29.9);
    const { status, body } = await refresh(token);
    assertEquals(status, 200);
    token = body.refresh_token;
  }
  days(0.55);
  const last = await refresh(token);
  assertEquals([last.status, last.body.expires_in], [200, 720]);
  days(0.02);
  assertEquals((await refresh(last.body.refresh_token)).body.error, "invalid_grant");

  const idle = await start();
  idle.harness.later(30 * 86_400);
  assertEquals((await idle.refresh(idle.tokens.refresh_token)).body.error, "invalid_grant");
});

Deno.test("a token ends with the membership and is not restored with it", async () => {
  const guest = await createPerson(database, "refresh-guest@example.com", ["pro", "team"]);
  const harness = createHarness(over(database));
  const clientId = await registerClient(harness);
  const gone = await connect(harness, { clientId, person: guest });
  const kept = await connect(harness, { clientId, person: guest, organizationId: guest.organizations[1]! });
  const membership = [guest.organizations[0], guest.id];
  await database.query("delete from identity.memberships where organization_id = $1 and user_id = $2", membership);
  await database.query(
    "insert into identity.memberships (organization_id, user_id, role) values ($1, $2, 'member')",
    membership,
  );
  assertEquals(await outcomeOf(database, gone.access_token, harness.clock.now), "invalid_token");
  const refused = await harness.post("token", refreshFields(clientId, gone.refresh_token));
  assertEquals((await refused.json()).error, "invalid_grant");
  assertEquals(await outcomeOf(database, kept.access_token, harness.clock.now), "ok");
});

Deno.test("a retry gets the existing successor even if the signing key changed in between", async () => {
  const first = "a-secret-of-more-than-thirty-two-bytes";
  const next = "the-next-secret-of-thirty-two-bytes-or-so";
  const { clientId, tokens, refresh } = await start();
  const { body } = await refresh(tokens.refresh_token);
  const retry = (codeSecrets: string[]) =>
    createHarness(over(database), { codeSecrets }).post("token", refreshFields(clientId, tokens.refresh_token));
  assertEquals(await (await retry([next, first])).json(), body);
  assertEquals((await (await retry([next])).json()).error, "invalid_grant");
});
