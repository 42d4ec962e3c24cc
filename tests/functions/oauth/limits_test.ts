/** Rate limits of each endpoint: their keys and exceptions. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { sharedDatabase } from "../../_support/database.ts";
import {
  authorizationQuery,
  CALLBACK,
  connect,
  createHarness,
  createPerson,
  exchangeFields,
  type Fields,
  obtainCode,
  outcomeOf,
  over,
  refreshFields,
  registerClient,
} from "./harness.ts";

const database = await sharedDatabase();
const person = await createPerson(database, "limits@example.com", ["team"]);

const HERE = "198.51.100.7";
const ELSEWHERE = "203.0.113.9";

/** Empty buckets, and requests from an address. */
async function start(config = {}) {
  await database.query("delete from oauth.rate_buckets");
  const harness = createHarness(over(database), config);
  const clientId = await registerClient(harness);
  const from = (ip: string, headers: Record<string, string> = {}) => ({ "x-forwarded-for": ip, ...headers });
  const form = (endpoint: "token" | "revoke", fields: Fields, ip = HERE) =>
    harness.request(`/api/oauth/${endpoint}`, {
      method: "POST",
      body: new URLSearchParams(fields as Record<string, string>),
      headers: from(ip),
    });
  const register = (ip: string) =>
    harness.request("/api/oauth/register", {
      method: "POST",
      body: JSON.stringify({ redirect_uris: [CALLBACK] }),
      headers: from(ip, { "content-type": "application/json" }),
    });
  return { harness, clientId, form, register, from };
}

async function statuses(count: number, ask: (n: number) => Promise<Response>): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (let n = 0; n < count; n++) {
    const response = await ask(n);
    await response.body?.cancel();
    counts[response.status] = (counts[response.status] ?? 0) + 1;
  }
  return counts;
}

Deno.test("a caller registers thirty clients per minute, in one database call each, then gets 429 in JSON with the time to wait", async () => {
  const { harness, register } = await start();
  harness.calls.length = 0;
  assertEquals(await statuses(30, () => register(HERE)), { 201: 30 });
  const refused = await register(HERE);
  assertEquals([refused.status, refused.headers.get("retry-after")], [429, "2"]);
  assertEquals(refused.headers.get("cache-control"), "no-store");
  assertEquals(refused.headers.get("access-control-allow-origin"), "*");
  assertEquals((await refused.json()).error, "temporarily_unavailable");
  assertEquals(harness.calls, Array(31).fill("register_client"));
  assertEquals(await statuses(1, () => register(ELSEWHERE)), { 201: 1 });
  harness.later(2);
  assertEquals(await statuses(2, () => register(HERE)), { 201: 1, 429: 1 });
});

Deno.test("invented expired sessions reach the identity provider twenty times a minute per caller", async () => {
  const { harness, clientId, from } = await start();
  const ask = (ip: string) => (n: number) => {
    const session = { access_token: "a.b.c", refresh_token: `junk${n}${ip}`, expires_at: 1, user: { id: "1" } };
    const cookie = `__Host-session=base64-${btoa(JSON.stringify(session))}`;
    return harness.request(authorizationQuery(clientId), { headers: from(ip, { cookie }) });
  };
  assertEquals(await statuses(30, ask(HERE)), { 302: 20, 429: 10 });
  assertEquals(harness.identityProvider.refreshes, 20);
  assertEquals(await statuses(1, ask(ELSEWHERE)), { 302: 1 });
  // A session that can't be refreshed costs the page no draw.
  harness.calls.length = 0;
  assertEquals(await statuses(1, () => harness.get(authorizationQuery(clientId), person, from(HERE))), { 200: 1 });
  assertEquals(harness.calls, ["open_consent"]);
});

Deno.test("an IPv6 network counts as eight callers at most", async () => {
  const { register } = await start({ rateLimits: { register: 2 } });
  assertEquals(await statuses(3, () => register("2001:db8:1:1::1")), { 201: 2, 429: 1 });
  assertEquals(await statuses(40, (n) => register(`2001:db8:1:${n + 2}::1`)), { 201: 14, 429: 26 });
  assertEquals(await statuses(1, () => register("2001:db8:2:1::1")), { 201: 1 });
});

Deno.test("a forged forwarded address neither adds a new budget nor uses up another one", async () => {
  const { register } = await start({ rateLimits: { register: 10 } });
  const forged = await statuses(30, (n) => register(`10.1.0.${n}, ${ELSEWHERE}`));
  assertEquals(forged, { 201: 10, 429: 20 });
  assertEquals(await statuses(10, () => register("10.1.0.1")), { 201: 10 });
  assertEquals(await statuses(10, () => register("10.1.0.1, 203.0.113.10")), { 201: 10 });
});

Deno.test("behind an authenticated front door everybody has their own budget, however many others use theirs up", async () => {
  const secret = "the-front-door-has-this-one-of-32-bytes";
  const { harness, from } = await start({ frontDoorSecrets: [secret], rateLimits: { register: 10 } });
  const register = (ip: string, proof = secret) =>
    harness.request("/api/oauth/register", {
      method: "POST",
      body: JSON.stringify({ redirect_uris: [CALLBACK] }),
      headers: from(`${ip}, ${ELSEWHERE}`, { "x-front-door-secret": proof, "content-type": "application/json" }),
    });
  for (let caller = 0; caller < 25; caller++) {
    assertEquals(await statuses(11, () => register(`10.1.0.${caller}`)), { 201: 10, 429: 1 });
  }
  assertEquals(await statuses(1, () => register(HERE)), { 201: 1 });
  assertEquals(await statuses(11, (n) => register(`10.2.0.${n}`, "a guess")), { 201: 10, 429: 1 });
});

Deno.test("the edge's own header counts, whatever was forwarded", async () => {
  const { harness, from } = await start({ rateLimits: { register: 10 } });
  const ask = (n: number) =>
    harness.request("/api/oauth/register", {
      method: "POST",
      body: JSON.stringify({ redirect_uris: [CALLBACK] }),
      headers: from(`${ELSEWHERE}, 10.0.0.${n}`, { "cf-connecting-ip": ELSEWHERE }),
    });
  assertEquals(await statuses(12, ask), { 201: 10, 429: 2 });
});

Deno.test("a caller gets a hundred and twenty authorization pages a minute, then a page with the time to wait", async () => {
  const { harness, clientId, from } = await start();
  const ask = (ip: string) => harness.request(authorizationQuery(clientId), { headers: from(ip) });
  assertEquals(await statuses(120, () => ask(HERE)), { 302: 120 });
  harness.calls.length = 0;
  const refused = await ask(HERE);
  assertEquals([refused.status, refused.headers.get("location")], [429, null]);
  assertMatch(refused.headers.get("content-type")!, /text\/html/);
  assertEquals(refused.headers.get("retry-after"), "1");
  assertStringIncludes(await refused.text(), "<h1>");
  assertEquals(harness.calls, ["open_consent"]);
  assertEquals(await statuses(1, () => ask(ELSEWHERE)), { 302: 1 });
});

Deno.test("a caller gets a hundred and fifty refused token requests per five minutes; valid codes and tokens are still served", async () => {
  const { harness, clientId, form } = await start();
  const code = await obtainCode(harness, { clientId, person });
  const tokens = await connect(harness, { clientId, person });
  const unknown = refreshFields(clientId, `exp_rt_${"x".repeat(43)}`);
  const refusals: Fields[] = [
    unknown,
    refreshFields(clientId, "not-a-token"),
    refreshFields("client_gone", tokens.refresh_token),
    exchangeFields(clientId, "x.y"),
    exchangeFields("client_gone", code),
  ];
  assertEquals(await statuses(150, (n) => form("token", refusals[n % 5]!)), { 400: 90, 401: 60 });
  harness.calls.length = 0;
  for (const refusal of refusals) {
    const refused = await form("token", refusal);
    assertEquals([refused.status, (await refused.json()).error], [429, "temporarily_unavailable"]);
    assertEquals(refused.headers.get("retry-after"), "2");
  }
  assertEquals(harness.calls.length, refusals.length);
  assertEquals(await statuses(1, () => form("revoke", { client_id: clientId, token: "guess" })), { 429: 1 });
  assertEquals(await statuses(1, () => form("token", unknown, ELSEWHERE)), { 400: 1 });

  assertEquals((await form("token", exchangeFields(clientId, code))).status, 200);
  assertEquals((await form("token", refreshFields(clientId, tokens.refresh_token))).status, 200);
  assertEquals((await form("token", refreshFields(clientId, tokens.refresh_token))).status, 200);
  assertEquals((await form("revoke", { client_id: clientId, token: tokens.refresh_token })).status, 200);
  // A dead token of a formerly connected client, which must learn that it has to sign in again.
  const dead = await form("token", refreshFields(clientId, tokens.refresh_token));
  assertEquals((await dead.json()).error, "invalid_grant");
});

Deno.test("a grant gets a hundred and fifty rotations per five minutes; a refused token stays valid, and other grants are unaffected", async () => {
  const { harness, clientId, form } = await start();
  const tokens = await connect(harness, { clientId, person });
  const other = await connect(harness, { clientId, person });
  let latest = tokens.refresh_token;
  for (let n = 0; n < 150; n++) {
    const response = await form("token", refreshFields(clientId, latest), `198.51.100.${n}`);
    assertEquals(response.status, 200);
    latest = (await response.json()).refresh_token;
  }
  const refused = await form("token", refreshFields(clientId, latest));
  assertEquals([refused.status, refused.headers.get("retry-after")], [429, "2"]);
  await refused.body?.cancel();
  assertEquals(await statuses(1, () => form("token", refreshFields(clientId, other.refresh_token))), { 200: 1 });
  harness.later(2);
  assertEquals((await form("token", refreshFields(clientId, latest))).status, 200);
});

Deno.test("a dead refresh token has its own bucket and does not slow down its grant", async () => {
  const { harness, clientId, form } = await start();
  const old = await connect(harness, { clientId, person });
  harness.later(86_400);
  const { refresh_token } = await (await form("token", refreshFields(clientId, old.refresh_token))).json();
  harness.later(29.5 * 86_400);
  const replay = () => form("token", refreshFields(clientId, old.refresh_token), ELSEWHERE);
  assertEquals(await statuses(152, replay), { 400: 150, 429: 2 });
  assertEquals((await form("token", refreshFields(clientId, refresh_token))).status, 200);
});

Deno.test("a replayed code ends its grant even when its caller is over the limit", async () => {
  const { harness, clientId, form } = await start({ rateLimits: { token: 1 } });
  const code = await obtainCode(harness, { clientId, person });
  const tokens = await (await form("token", exchangeFields(clientId, code))).json();
  assertEquals(await statuses(2, () => form("token", exchangeFields(clientId, "x.y"))), { 400: 1, 429: 1 });
  assertEquals((await form("token", exchangeFields(clientId, code))).status, 429);
  assertEquals(await outcomeOf(database, tokens.access_token, harness.clock.now), "invalid_token");
});

Deno.test("limits can be changed by name and switched off, and callers without an IP address are not limited", async () => {
  const named = await start({ rateLimits: { register: 2 } });
  assertEquals(await statuses(3, () => named.register(HERE)), { 201: 2, 429: 1 });
  const off = await start({ rateLimits: "off" });
  assertEquals(await statuses(35, () => off.register(HERE)), { 201: 35 });
  assertEquals(await database.query("select from oauth.rate_buckets"), []);
  const { harness } = await start();
  assertEquals(await statuses(35, () => harness.register({ redirect_uris: [CALLBACK] })), { 201: 35 });
});

Deno.test("setting the clock back locks nobody out", async () => {
  const { harness, register } = await start({ rateLimits: { register: 10 } });
  harness.later(7 * 86_400);
  assertEquals(await statuses(11, () => register(HERE)), { 201: 10, 429: 1 });
  harness.later(-7 * 86_400);
  assertEquals(await statuses(11, () => register(HERE)), { 201: 10, 429: 1 });
});

Deno.test("addresses are stored only as keyed hashes", async () => {
  const { register } = await start();
  await register(HERE);
  const rows = JSON.stringify(await database.query("select * from oauth.rate_buckets"));
  assertEquals(rows.includes(HERE), false);
  assertMatch(rows, /"register:[\w-]{43}"/);
});
