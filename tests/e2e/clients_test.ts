/** The MCP SDK's clients, old and new, from the connector's URL alone to a written expense. */
import { assertEquals } from "@std/assert";
import { Client as ModernClient, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import { TOOLS } from "../../functions/mcp/tools/mod.ts";
import { MemoryProvider } from "../../local/demo/client.ts";
import { startStack } from "../_support/stack.ts";
import { connectFor, type Json, newPerson, type Person } from "./person.ts";

const TOOL_NAMES = TOOLS.map((tool) => tool.listed.name);
const LUNCH = { items: [{ name: "Lunch", amount: "14.50", currency: "EUR", date: "yesterday" }] };

/** The v2 client's part of connect(): it remembers one issuer and checks it on the callback. */
async function connectModern(mcpUrl: string, person: Person, options?: ConstructorParameters<typeof ModernClient>[1]) {
  const provider = new MemoryProvider("Modern client");
  const paths: string[] = [];
  const openTransport = () =>
    new StreamableHTTPClientTransport(new URL(mcpUrl), {
      authProvider: provider as Json,
      fetch: (input, init) => {
        paths.push(new URL(String(input)).pathname);
        return fetch(input, init);
      },
    });
  const newClient = () => new ModernClient({ name: "Modern client", version: "1.0.0" }, options);
  const refused = openTransport();
  await newClient().connect(refused).catch((error: unknown) => {
    if (!(error instanceof UnauthorizedError)) throw error;
  });
  const answer = await person.decide(provider.authorizationUrl!);
  await refused.finishAuth(answer.searchParams);
  const client = newClient();
  await client.connect(openTransport());
  return { client, paths };
}

const stack = await startStack({ args: ["--no-demo"] });
Deno.test.afterAll(async () => {
  assertEquals(/exp_[ar]t_[\w-]{20}/.test(stack.log()), false, "no issued token is in the log");
  assertEquals(await stack.stop(), 0);
});
const person = await newPerson(stack, "clients@example.com");

Deno.test("the v1 client discovers, registers, gets consent, lists and calls", async () => {
  const { client, call, tokens } = await connectFor(person, stack.mcp_url);
  assertEquals((await client.listTools()).tools.map(({ name }) => name), TOOL_NAMES);
  const { ok, data } = await call("log_expenses", LUNCH);
  assertEquals([ok, data.results[0].status], [true, "created"]);
  assertEquals([tokens().scope, tokens().expires_in], ["expenses:rw", 3600]);
  await client.ping();
  await client.close();
});

for (const mode of ["legacy", "auto"] as const) {
  Deno.test(`the v2 client does the same (${mode})`, async () => {
    const { client, paths } = await connectModern(stack.mcp_url, person, {
      versionNegotiation: { mode },
    });
    assertEquals(client.getNegotiatedProtocolVersion(), mode === "auto" ? "2026-07-28" : "2025-11-25");
    assertEquals((await client.listTools()).tools.map(({ name }) => name), TOOL_NAMES);
    await client.callTool({ name: "log_expenses", arguments: LUNCH });
    const result = await client.callTool({ name: "list_expenses", arguments: { query: "lunch" } }) as Json;
    assertEquals(result.structuredContent.total_count, 1);
    for (const path of ["/api/mcp/.well-known/oauth-protected-resource", "/api/oauth/register", "/api/oauth/token"]) {
      assertEquals(paths.includes(path), true, path);
    }
    await client.close();
  });
}

Deno.test("a client treats the function's own URL as a separate server", async () => {
  const { call, client } = await connectFor(person, `${stack.functions_url}/mcp`);
  assertEquals((await call("log_expenses", LUNCH)).ok, true);
  assertEquals((await call("list_expenses")).total_count, 1);
  await client.close();
});

Deno.test("the platform's own addresses and pages refuse a connector token", async () => {
  const { tokens, client } = await connectFor(person, stack.mcp_url);
  await client.close();
  const authorization = `Bearer ${tokens().access_token}`;
  const addresses = [
    `${stack.supabase_url}/rest/v1/rpc/ping`,
    `${stack.supabase_url}/auth/v1/user`,
    `${stack.site_url}/account`,
    `${stack.site_url}/api/payment/webhook`,
  ];
  for (const address of addresses) {
    const method = address.endsWith("ping") || address.endsWith("webhook") ? "POST" : "GET";
    const response = await fetch(address, { method, headers: { authorization }, redirect: "manual" });
    await response.body?.cancel();
    assertEquals([303, 400, 401, 403].includes(response.status), true, `${address} ${response.status}`);
  }
});

Deno.test("the client learns that its request was denied", async () => {
  const error = await connectFor({ ...person, decide: (url) => person.decide(url, "deny") }, stack.mcp_url)
    .then(() => undefined, (error) => error.message);
  assertEquals(error, "The sign-in ended with access_denied");
});
