/** Rate limits of the connector: a grant's reads and writes, a caller's guesses, and independent buckets. */
import { assertEquals } from "@std/assert";
import { createMcpApp } from "../../../functions/mcp/app.ts";
import { type Config, readConfig } from "../../../shared/config.ts";
import { createLog } from "../../../shared/log.ts";
import { hashToken } from "../../../shared/oauth/tokens.ts";
import { sharedDatabase } from "../../_support/database.ts";
import {
  connect,
  createHarness,
  createPerson,
  over,
  refreshFields,
  registerClient,
  SITE,
  type Tokens,
} from "../oauth/harness.ts";

const database = await sharedDatabase();
const person = await createPerson(database, "connector-limits@example.com", ["team", "free"]);
const authorization = createHarness(over(database));
const clientId = await registerClient(authorization);

const HERE = "198.51.100.7";

/** Empty buckets, a connected client, and its requests. */
async function start(config: Partial<Config> = {}) {
  await database.query("delete from oauth.rate_buckets");
  const tokens: Tokens = await connect(authorization, { clientId, person });
  const calls: string[] = [];
  const answers: Promise<unknown>[] = [];
  const clock = { now: authorization.clock.now };
  const app = createMcpApp({
    config: {
      ...readConfig({
        NEXT_PUBLIC_SITE_URL: SITE,
        SUPABASE_URL: "https://ref.supabase.example",
        OAUTH_CODE_SECRET: "a-secret-of-more-than-thirty-two-bytes",
      }, []),
      ...config,
    },
    database: {
      call: (name, args) => {
        calls.push(name);
        const answer = over(database).call(name, args);
        answers.push(answer);
        return answer;
      },
    },
    clock: () => clock.now,
    log: createLog(() => {}),
    fetch: () => Promise.reject(new Error("unexpected")),
    guardedFetch: () => Promise.reject(new Error("unexpected")),
  });
  const post = async (token: string, message: Record<string, unknown>, ip = HERE) =>
    await app.request(`${SITE}/api/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json",
        "x-forwarded-for": ip,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
    });
  const tool = (name: string, args: Record<string, unknown> = {}) => ({
    method: "tools/call",
    params: { name, arguments: args },
  });
  /** Calls so far, after the last one has returned. */
  const settled = async () => {
    await Promise.all(answers);
    return calls.splice(0);
  };
  return {
    tokens,
    calls,
    settled,
    clock,
    post,
    tool,
    later: (s: number) => void (clock.now = new Date(+clock.now + s * 1000)),
  };
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

const READS = { connector_read: 5, connector_write: 2, failed_bearer: 3 };

Deno.test("reads and writes of a grant are limited separately, in one database call each", async () => {
  const { tokens, calls, settled, post, tool, later } = await start({ rateLimits: READS });
  const read = () => post(tokens.access_token, tool("get_context"));
  const list = () => post(tokens.access_token, { method: "tools/list" });
  const write = (n: number) =>
    post(tokens.access_token, tool("log_expenses", { items: [{ name: `Tea ${n}`, amount: "2" }] }));
  await list();
  await settled();
  assertEquals(await statuses(3, read), { 200: 3 });
  assertEquals(await statuses(2, list), { 200: 1, 429: 1 });
  assertEquals(await statuses(3, write), { 200: 2, 429: 1 });
  const refused = await read();
  assertEquals([refused.status, refused.headers.get("retry-after")], [429, "12"]);
  assertEquals((await refused.json()).error.code, -31429);
  assertEquals(calls.filter((name) => name === "record_use"), []);
  assertEquals(calls.length, 9);
  const [row] = await database.query<{ count: number }>("select count(*)::int as count from app.payments");
  assertEquals(row!.count, 2);
  later(12);
  assertEquals(await statuses(2, read), { 200: 1, 429: 1 });
});

Deno.test("the limits are three hundred reads and sixty writes a minute", async () => {
  const { tokens, post } = await start();
  await post(tokens.access_token, { method: "tools/list" });
  const [read] = await database.query<{ seconds: number }>(
    "select extract(epoch from full_at - $1)::float as seconds from oauth.rate_buckets where key like 'connector_read:%'",
    [authorization.clock.now],
  );
  assertEquals(read!.seconds, 0.2);
  await post(tokens.access_token, {
    method: "tools/call",
    params: { name: "log_expenses", arguments: { items: [{ name: "Tea", amount: "2" }] } },
  });
  const [write] = await database.query<{ seconds: number }>(
    "select extract(epoch from full_at - $1)::float as seconds from oauth.rate_buckets where key like 'connector_write:%'",
    [authorization.clock.now],
  );
  assertEquals(write!.seconds, 1);
});

Deno.test("a new access token shares its grant's budget, and another grant has its own", async () => {
  const { tokens, post, tool } = await start({ rateLimits: READS });
  const other = await connect(authorization, { clientId, person });
  const renewed = await (await authorization.post("token", refreshFields(clientId, tokens.refresh_token))).json();
  assertEquals(await statuses(6, () => post(tokens.access_token, tool("get_context"))), { 200: 5, 429: 1 });
  assertEquals(await statuses(1, () => post(renewed.access_token, tool("get_context"))), { 429: 1 });
  assertEquals(await statuses(1, () => post(other.access_token, tool("get_context"))), { 200: 1 });
});

Deno.test("tokens that the server never issued are limited by caller; currently or formerly valid ones are handled as usual", async () => {
  const { tokens, calls, post, tool, later } = await start({ rateLimits: READS });
  const guess = (n: number) => `exp_at_${String(n).padStart(43, "0")}`;
  const ask = (n: number) => post(guess(n), n % 2 ? { method: "tools/list" } : tool("get_context"));
  assertEquals(await statuses(8, ask), { 401: 3, 429: 5 });
  assertEquals(calls.length, 8);
  const refused = await ask(9);
  assertEquals([refused.status, refused.headers.get("retry-after"), refused.headers.get("www-authenticate")], [
    429,
    "20",
    null,
  ]);
  assertEquals(await statuses(1, () => post(guess(1), tool("get_context"), "203.0.113.9")), { 401: 1 });
  assertEquals(await statuses(2, () => post(tokens.access_token, tool("get_context"))), { 200: 2 });
  later(3600);
  assertEquals(await statuses(2, ask), { 401: 2 });
  assertEquals(await statuses(5, ask), { 401: 1, 429: 4 });
  assertEquals(await statuses(3, () => post(tokens.access_token, tool("get_context"))), { 401: 3 });
});

Deno.test("refusals for a plan without the connector count against the grant", async () => {
  const { post, tool } = await start({ rateLimits: READS });
  const [team] = person.organizations;
  const tokens = await connect(authorization, { clientId, person });
  await database.query("update identity.organizations set plan = 'free' where id = $1", [team]);
  assertEquals(await statuses(6, () => post(tokens.access_token, tool("get_context"))), { 403: 5, 429: 1 });
  await database.query("update identity.organizations set plan = 'team' where id = $1", [team]);
});

Deno.test("the last use is written once an hour, in a separate call after the response", async () => {
  const { tokens, settled, post, tool, later } = await start();
  const lastUsed = async () =>
    (await database.query<{ at: string | null }>(
      `select g.last_used_at as at from oauth.grants as g join oauth.tokens as t on t.grant_id = g.id
       where t.token_hash = decode($1, 'hex')`,
      [hashToken(tokens.access_token)],
    ))[0]!.at;
  assertEquals(await lastUsed(), null);
  await post(tokens.access_token, tool("get_context"));
  assertEquals(await settled(), ["call_tool", "record_use"]);
  const first = await lastUsed();
  assertEquals(typeof first, "string");
  later(3599);
  await post(tokens.access_token, { method: "tools/list" });
  await post(tokens.access_token, tool("get_context"));
  assertEquals(await settled(), ["authenticate_bearer", "call_tool"]);
  assertEquals(await lastUsed(), first);
});

Deno.test("failing to record the use does not fail the request", async () => {
  const { tokens } = await start();
  const app = createMcpApp({
    config: { siteUrl: SITE, supabaseUrl: "https://ref.supabase.example", rateLimits: "off" } as Config,
    database: {
      call: (name, args) => name === "record_use" ? Promise.reject(new Error("down")) : over(database).call(name, args),
    },
    clock: () => authorization.clock.now,
    log: createLog(() => {}),
    fetch: () => Promise.reject(new Error("unexpected")),
    guardedFetch: () => Promise.reject(new Error("unexpected")),
  });
  const response = await app.request(`${SITE}/api/mcp`, {
    method: "POST",
    headers: { authorization: `Bearer ${tokens.access_token}`, "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "get_context" } }),
  });
  assertEquals((await response.json()).result.structuredContent.ok, true);
});
