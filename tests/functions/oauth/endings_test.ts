/** Connections end with their person, organization or membership. Also the entropy of tokens. */
import { assertEquals, assertMatch } from "@std/assert";
import { sharedDatabase } from "../../_support/database.ts";
import {
  authorizationQuery,
  connect,
  createHarness,
  createPerson,
  exchangeFields,
  obtainCode,
  outcomeOf,
  over,
  refreshFields,
  registerClient,
  sessionOf,
} from "./harness.ts";

const database = await sharedDatabase();
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
  Deno.test(`tokens are invalid from the next request on when ${what}`, async () => {
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

// Each way to suspend a person, and to reinstate them.
const SUSPENSIONS: Record<string, { by: string; until?: number }> = {
  "banned": { by: "banned_until = $2::timestamptz + interval '1 hour'", until: 3600 },
  "banned for good": { by: "banned_until = 'infinity'" },
  "soft-deleted": { by: "deleted_at = $2" },
};

for (const [what, { by, until }] of Object.entries(SUSPENSIONS)) {
  Deno.test(`${what} people can use no token, refresh, code or consent, and their grants stay`, async () => {
    const harness = createHarness(over(database));
    const person = await createPerson(database, `shut-out-${number++}@example.com`, ["team"]);
    const colleague = await createPerson(database, `colleague-${number++}@example.com`, ["team"]);
    const tokens = await connect(harness, { clientId, person });
    const others = await connect(harness, { clientId, person: colleague });
    const code = await obtainCode(harness, { clientId, person });
    const page = await (await harness.get(authorizationQuery(clientId), person)).text();

    await database.query(`update auth.users set ${by} where id = $1 and $2::timestamptz is not null`, [
      person.id,
      harness.clock.now,
    ]);
    assertEquals(await outcomeOf(database, tokens.access_token, harness.clock.now), "invalid_token");
    for (let times = 0; times < 2; times++) {
      const refused = await harness.post("token", refreshFields(clientId, tokens.refresh_token));
      assertEquals([refused.status, (await refused.json()).error], [400, "invalid_grant"]);
    }
    const redeemed = await harness.post("token", exchangeFields(clientId, code));
    assertEquals([redeemed.status, (await redeemed.json()).error], [400, "invalid_grant"]);
    // Even if the identity provider still accepts the session.
    const allow = { action: "approve", organization_id: person.organizations[0] };
    assertEquals((await harness.decide(page, allow, person)).status, 403);
    const asked = await harness.get(authorizationQuery(clientId), person);
    assertEquals([asked.status, new URL(asked.headers.get("location")!, "https://x").pathname], [
      302,
      "/organizations/new",
    ]);
    assertEquals(await outcomeOf(database, others.access_token, harness.clock.now), "ok");

    const [{ revoked }] = await database.query<{ revoked: number }>(
      "select count(revoked_at)::int as revoked from oauth.grants where user_id = $1",
      [person.id],
    ) as [{ revoked: number }];
    assertEquals(revoked, 0);
    if (until === undefined) return;
    harness.later(until - 1);
    assertEquals((await harness.post("token", refreshFields(clientId, tokens.refresh_token))).status, 400);
    harness.later(1);
    const again = await harness.post("token", refreshFields(clientId, tokens.refresh_token));
    assertEquals(again.status, 200);
    assertEquals(await outcomeOf(database, (await again.json()).access_token, harness.clock.now), "ok");
  });
}

Deno.test("replaying a code ends its grant even while its person is suspended", async () => {
  const harness = createHarness(over(database));
  const person = await createPerson(database, `stolen-code-${number++}@example.com`, ["team"]);
  const other = await connect(harness, { clientId, person });
  const code = await obtainCode(harness, { clientId, person });
  const exchange = () => harness.post("token", exchangeFields(clientId, code));
  const tokens = await (await exchange()).json();
  await database.query("update auth.users set banned_until = 'infinity' where id = $1", [person.id]);
  for (let times = 0; times < 2; times++) {
    const replay = await exchange();
    assertEquals([replay.status, (await replay.json()).error], [400, "invalid_grant"]);
  }
  await database.query("update auth.users set banned_until = null where id = $1", [person.id]);
  assertEquals(await outcomeOf(database, tokens.access_token, harness.clock.now), "invalid_token");
  assertEquals(await outcomeOf(database, other.access_token, harness.clock.now), "ok");
  assertEquals(
    await database.query(
      "select revocation_reason as reason from oauth.grants where user_id = $1 and revoked_at is not null",
      [person.id],
    ),
    [{ reason: "code_replayed" }],
  );
});

Deno.test("a stolen refresh token ends its grant even while its person is suspended", async () => {
  const harness = createHarness(over(database));
  const person = await createPerson(database, `stolen-${number++}@example.com`, ["team"]);
  const tokens = await connect(harness, { clientId, person });
  await harness.post("token", refreshFields(clientId, tokens.refresh_token));
  harness.later(61);
  await database.query("update auth.users set banned_until = 'infinity' where id = $1", [person.id]);
  assertEquals((await harness.post("token", refreshFields(clientId, tokens.refresh_token))).status, 400);
  assertEquals(
    await database.query("select revocation_reason as reason from oauth.grants where user_id = $1", [person.id]),
    [{ reason: "refresh_token_replayed" }],
  );
});

Deno.test("consent shows a notice to a suspended person and asks a password session to sign in", async () => {
  const harness = createHarness(over(database));
  const person = await createPerson(database, `consenting-${number++}@example.com`, ["team"]);
  const page = await (await harness.get(authorizationQuery(clientId), person)).text();
  const allow = { action: "approve", organization_id: person.organizations[0] };

  const byPassword = { cookie: sessionOf(person, "password") };
  for (
    const response of [
      await harness.get(authorizationQuery(clientId), null, byPassword),
      await harness.decide(page, allow, null, byPassword),
    ]
  ) {
    assertMatch(response.headers.get("location")!, /^\/login\?next=/);
    assertMatch(response.headers.get("set-cookie")!, /^__Host-session=; .*Max-Age=0/i);
  }

  const banned_until = new Date(harness.clock.now.getTime() + 1000).toISOString();
  harness.identityProvider.users.set(person.id, { banned_until });
  for (
    const response of [
      await harness.get(authorizationQuery(clientId), person),
      await harness.get(authorizationQuery(clientId, { prompt: "none" }), person),
      await harness.decide(page, allow, person),
    ]
  ) {
    assertEquals([response.status, response.headers.get("location")], [403, null]);
    assertMatch(await response.text(), /<h1>This account is suspended<\/h1>/);
  }
});

Deno.test("tokens have 256 independent random bits", async () => {
  const person = await createPerson(database, "random@example.com", ["team"]);
  const tokens = await Promise.all(Array.from({ length: 10 }, () => connect(harness, { clientId, person })));
  const secrets = tokens.flatMap(({ access_token, refresh_token }) => [access_token, refresh_token]);
  for (const secret of secrets) assertMatch(secret, /^exp_[ar]t_[A-Za-z0-9_-]{43}$/);
  const parts = secrets.flatMap((secret) => secret.slice(7).match(/.{6}/g)!);
  assertEquals(new Set(parts).size, parts.length);
});
