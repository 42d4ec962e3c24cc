/**
 * Counts database round trips per operation on the wire: the real functions run in this process against a running
 * stack's database, through a proxy that counts requests.
 */
import { assertEquals } from "@std/assert";
import { createMcpApp } from "../../functions/mcp/app.ts";
import { TOOLS } from "../../functions/mcp/tools/mod.ts";
import { createOAuthApp } from "../../functions/oauth/app.ts";
import { REDIRECT_URI } from "../../local/demo/client.ts";
import { functionEnvironment } from "../../local/environment.ts";
import { systemClock } from "../../shared/clock.ts";
import { readConfig } from "../../shared/config.ts";
import { createDatabase } from "../../shared/db/client.ts";
import type { App } from "../../shared/http/app.ts";
import { createLog } from "../../shared/log.ts";
import { startStack, type TestStack } from "../_support/stack.ts";
import { type Era, ERA_NAMES, ERAS } from "../functions/mcp/harness.ts";
import { type Json, newPerson } from "./person.ts";

// RFC 7636 appendix B.
const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/** Arguments with which each tool reaches its SQL. */
const ARGUMENTS: Record<string, Record<string, unknown>> = {
  settle_up: { to: "nobody@example.com", amount: "1" },
  decide_proposal: { proposal_id: "prop_000000000001", hash: "a", decision: "refuse" },
  log_expenses: { items: [{ name: "Lunch", amount: "14.50" }] },
  import_expenses: { csv: "Date,Name,Amount\n2026-10-01,Lunch,14.50" },
  update_expenses: { ids: ["exp_000000000000"], set: { payee: "Bakery" } },
  add_bill: { name: "Rent", amount: "900", month_days: [1] },
  update_bill: { bill_id: "bill_000000000000", set: { payee: "Landlord" } },
  update_settings: { timezone: "Europe/Berlin" },
  mark_bill_paid: { bill_name: "Rent" },
  delete_records: { ids: ["exp_000000000000"] },
  reconcile: { account: "Visa" },
};
/** Slower work has a separate function with a longer time limit. */
const isLong = (name: string) => name === "undo_change" || name === "decide_proposal";

/** A stack's database behind a proxy that records every path. */
function countedDatabase(stack: TestStack) {
  const paths: string[] = [];
  let onPath = () => {};
  const proxy = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    const answer = await fetch(new Request(stack.supabase_url + pathname + search, request));
    // Records the path only after the response, because the next request depends on this one's writes.
    paths.push(pathname);
    onPath();
    return answer;
  });
  return {
    database: createDatabase({ url: `http://127.0.0.1:${proxy.addr.port}`, key: stack.secret_key }),
    /** Paths since the last call. */
    take: () => paths.splice(0),
    /** The same, after that many requests have arrived. */
    async takeOnce(count: number) {
      while (paths.length < count) await new Promise<void>((resolve) => onPath = resolve);
      return paths.splice(0);
    },
    close: () => proxy.shutdown(),
  };
}

const stack = await startStack({ args: ["--no-demo"] });
Deno.test.afterAll(async () => {
  await close();
  await stack.stop();
});
const person = await newPerson(stack, "counted@example.com");
const { database, take, takeOnce, close } = countedDatabase(stack);
const deps = {
  config: readConfig(
    functionEnvironment({
      own: {},
      db: "embedded",
      demoRates: false,
      mailboxUrl: "smtp://127.0.0.1:9",
      siteUrl: stack.site_url,
      supabaseUrl: stack.supabase_url,
      secrets: JSON.parse(await Deno.readTextFile(`${stack.folder}/secrets.json`)),
    }),
    ["codeSecrets"],
  ),
  database,
  clock: systemClock,
  log: createLog(() => {}),
  fetch,
  guardedFetch: () => Promise.reject(new Error("unexpected fetch")),
};
const oauth = createOAuthApp(deps);
const mcp = createMcpApp(deps);
const ask = async (app: App, path: string, init: RequestInit): Promise<Json> => {
  const response = await app.request(stack.site_url + path, { method: "POST", ...init });
  const text = await response.text();
  assertEquals(response.status < 300, true, `${path} ${response.status} ${text}`);
  return text && JSON.parse(text);
};
const form = (fields: Record<string, string>) => ({ body: new URLSearchParams(fields) });

let clientId = "";
let tokens: Json;
const exchange = async (fields: Record<string, string>) =>
  tokens = await ask(oauth, "/api/oauth/token", form({ client_id: clientId, ...fields }));

const send = (era: Era, method: string, params: Record<string, unknown>) => {
  const { body, headers } = ERAS[era](method, params);
  const authorization = `Bearer ${tokens.access_token}`;
  return ask(mcp, "/api/mcp", {
    body: JSON.stringify(body),
    headers: { ...headers, authorization, "content-type": "application/json" },
  });
};

let connecting: Promise<void> | undefined;
/** Gets tokens, once: registration, exchange, refresh and the first request. */
const connected = () => connecting ??= connect();
async function connect(): Promise<void> {
  const body = JSON.stringify({ client_name: "Counted", redirect_uris: [REDIRECT_URI] });
  const headers = { "content-type": "application/json" };
  ({ client_id: clientId } = await ask(oauth, "/api/oauth/register", { body, headers }));
  assertEquals(take(), ["/rest/v1/rpc/register_client"]);

  const query = { client_id: clientId, redirect_uri: REDIRECT_URI, code_challenge: CHALLENGE };
  const answer = await person.decide(`${stack.site_url}/api/oauth/authorize?${new URLSearchParams(query)}`);
  const code = answer.searchParams.get("code")!;
  await exchange({ grant_type: "authorization_code", code, code_verifier: VERIFIER, redirect_uri: REDIRECT_URI });
  assertEquals(take(), ["/rest/v1/rpc/redeem_authorization_code"]);

  await exchange({ grant_type: "refresh_token", refresh_token: tokens.refresh_token });
  assertEquals(take(), ["/rest/v1/rpc/rotate_refresh_token"]);

  // Once per hour and grant, a separate request that nobody waits for writes "last used".
  await send(ERA_NAMES[0]!, "tools/list", {});
  assertEquals(await takeOnce(2), ["/rest/v1/rpc/authenticate_bearer", "/rest/v1/rpc/record_use"]);
}

Deno.test("each step to a token makes one request to the database", connected);

for (const era of ERA_NAMES) {
  for (const { listed: { name } } of TOOLS) {
    Deno.test(`one request to the database: tools/call ${name} (${era})`, async () => {
      await connected();
      const { result } = await send(era, "tools/call", { name, arguments: ARGUMENTS[name] ?? {} });
      assertEquals(take(), [`/rest/v1/rpc/${isLong(name) ? "call_long_tool" : "call_tool"}`]);
      assertEquals(result.structuredContent.error?.code === "internal", false);
    });
  }
  // A stranger's body is never read this far, so the token is checked first.
  Deno.test(`two requests to the database: tools/call import_expenses with a long file (${era})`, async () => {
    await connected();
    const csv = ["Date,Name,Amount,Note", ...Array(40).fill(`2026-10-01,Lunch,14.50,${"x".repeat(1900)}`)].join("\n");
    const { result } = await send(era, "tools/call", { name: "import_expenses", arguments: { csv } });
    assertEquals(take(), ["/rest/v1/rpc/authenticate_bearer", "/rest/v1/rpc/call_tool"]);
    assertEquals(result.structuredContent.ok, true);
  });
  Deno.test(`one request to the database: tools/list (${era})`, async () => {
    await connected();
    await send(era, "tools/list", {});
    assertEquals(take(), ["/rest/v1/rpc/authenticate_bearer"]);
  });
}

// The last call, because it ends the connection.
Deno.test("one request to the database: revocation", async () => {
  await connected();
  await ask(oauth, "/api/oauth/revoke", form({ client_id: clientId, token: tokens.refresh_token }));
  assertEquals(take(), ["/rest/v1/rpc/revoke_token"]);
});
