/** The endpoint over HTTP: methods, negotiation, origins, CORS, sizes, and its metadata documents. */
import { assertEquals, assertMatch } from "@std/assert";
import { TOOLS } from "../../../functions/mcp/tools/mod.ts";
import { ERAS, type Json, messageOf, SITE, startConnector, SUPABASE } from "./harness.ts";

const PING = ERAS["2025-11-25"]("ping").body;
const FRONT_DOCUMENTS = [
  "/api/mcp/.well-known/oauth-protected-resource",
  "/.well-known/oauth-protected-resource/api/mcp",
  "/functions/v1/mcp/api/mcp/.well-known/oauth-protected-resource",
];

Deno.test("each address has a document that names that address and our authorization server", async () => {
  const { request, calls } = startConnector();
  const resourceOf = async (path: string) => {
    const response = await request("GET", { path, headers: { authorization: undefined } });
    assertEquals([response.status, response.headers.get("cache-control")], [200, "public, max-age=300"]);
    const { resource, ...rest } = await response.json();
    assertEquals(rest, {
      authorization_servers: [SITE],
      scopes_supported: ["expenses:rw"],
      bearer_methods_supported: ["header"],
      resource_name: "Expenses and bills",
    });
    return resource;
  };
  for (const path of FRONT_DOCUMENTS) assertEquals(await resourceOf(path), `${SITE}/api/mcp`);
  assertEquals(
    await resourceOf("/functions/v1/mcp/.well-known/oauth-protected-resource"),
    `${SUPABASE}/functions/v1/mcp`,
  );
  assertEquals((await request("HEAD", { path: FRONT_DOCUMENTS[0] })).status, 200);
  assertEquals(calls, []);
});

Deno.test("published addresses come from configuration, whatever the caller claims", async () => {
  const spoofed = { host: "evil.example", "x-forwarded-host": "evil.example", "x-forwarded-proto": "http" };
  const { request, post } = startConnector();
  const document = await request("GET", { path: FRONT_DOCUMENTS[0], headers: spoofed });
  const challenge = await post(PING, { headers: { ...spoofed, authorization: undefined } });
  const card = await request("GET", { headers: { ...spoofed, accept: "application/json" } });
  for (const text of [await document.text(), challenge.headers.get("www-authenticate")!, await card.text()]) {
    assertEquals(text.includes("evil"), false);
  }
});

Deno.test("GET describes the server, and returns 405 for a client that wants a stream", async () => {
  const { request } = startConnector();
  const card = await request("GET", { headers: { accept: "application/json" } });
  assertEquals(card.status, 200);
  const { name, version, protocol_versions, resource } = await card.json();
  assertEquals([name, version, resource], ["expenses", "1.0.0", `${SITE}/api/mcp`]);
  assertEquals(["2026-07-28", "2025-11-25", "2025-06-18"].every((era) => protocol_versions.includes(era)), true);

  const stream = await request("GET", { headers: { accept: "text/event-stream" } });
  assertEquals([stream.status, stream.headers.get("allow")], [405, "POST, OPTIONS"]);

  const head = await request("HEAD", { headers: { accept: "*/*" } });
  assertEquals([head.status, await head.text()], [200, ""]);
});

Deno.test("DELETE ends nothing; other methods return 405 with Allow", async () => {
  const { request } = startConnector();
  assertEquals((await request("DELETE")).status, 204);
  for (const method of ["PUT", "PATCH"]) {
    const response = await request(method);
    assertEquals([response.status, response.headers.get("allow")], [405, "GET, HEAD, POST, DELETE, OPTIONS"]);
  }
  const document = await request("POST", { path: FRONT_DOCUMENTS[0] });
  assertEquals([document.status, document.headers.get("allow")], [405, "GET, HEAD, OPTIONS"]);
});

Deno.test("the function's own URL serves the same, with or without a trailing slash", async () => {
  for (const path of ["/functions/v1/mcp", "/functions/v1/mcp/", "/mcp", "/mcp/api/mcp"]) {
    assertEquals((await startConnector().post(PING, { path })).status, 200, path);
  }
});

Deno.test("a call without progress returns JSON, whatever else the client accepts", async () => {
  const cases: [string | undefined, string][] = [
    [undefined, "application/json"],
    ["*/*", "application/json"],
    ["application/json", "application/json"],
    ["application/json, text/plain, */*", "application/json"],
    ["application/json, text/event-stream", "application/json"],
  ];
  for (const [accept, type] of cases) {
    const response = await startConnector().post(PING, { headers: { accept } });
    assertEquals([response.status, response.headers.get("content-type")], [200, type], accept);
    assertEquals(await messageOf(response), { jsonrpc: "2.0", id: 7, result: {} });
  }
  assertEquals((await startConnector().post(PING, { headers: { accept: "text/html" } })).status, 406);
});

Deno.test("an answer with a line separator stays whole, in JSON and as an event", async () => {
  const id = "a\u2028b";
  for (const accept of ["application/json", "application/json, text/event-stream"]) {
    const text = await (await startConnector().post({ ...PING, id }, { headers: { accept } })).text();
    assertEquals(JSON.parse(text.slice(text.indexOf("{"))), { jsonrpc: "2.0", id, result: {} }, accept);
  }
});

Deno.test("bad messages get JSON-RPC errors", async () => {
  const cases: [body: unknown, headers: Record<string, string>, status: number, code: number][] = [
    ["{", {}, 400, -32700],
    ["", {}, 400, -32700],
    ["[".repeat(65_000), {}, 400, -32700],
    ["null", {}, 400, -32600],
    ["3", {}, 400, -32600],
    [[], {}, 400, -32600],
    [[PING, PING], {}, 400, -32600],
    [{ id: 1, method: "ping" }, {}, 400, -32600],
    ["x".repeat(1_048_577), {}, 413, -31413],
    [PING, { "content-type": "text/plain" }, 415, -32000],
    [PING, { "mcp-protocol-version": "1999-01-01" }, 400, -32000],
  ];
  for (const [body, headers, status, code] of cases) {
    const response = await startConnector().post(body, { headers });
    const { error } = await messageOf(response);
    assertEquals([response.status, error.code], [status, code], JSON.stringify(body).slice(0, 60));
  }
});

Deno.test("a body over the limit is refused while it is being read", async () => {
  let sent = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 65_536;
      controller.enqueue(new Uint8Array(65_536).fill(120));
    },
  });
  const { stream } = startConnector();
  assertEquals((await stream(endless)).status, 413);
  assertEquals(sent < Math.max(...TOOLS.map(({ maxBytes }) => maxBytes)) + 500_000, true);
});

Deno.test("a truncated body is the caller's error, not ours", async () => {
  const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("reset")) });
  const { stream, lines } = startConnector();
  assertEquals((await stream(broken)).status, 400);
  assertEquals(lines.some((line) => line.includes('"error"')), false);
});

Deno.test("a notification is accepted without a response", async () => {
  const response = await startConnector().post({ jsonrpc: "2.0", method: "notifications/initialized" });
  assertEquals([response.status, await response.text()], [202, ""]);
});

Deno.test("https origins and loopback may call, and others get 403", async () => {
  const cases: [string, number][] = [
    ["https://claude.ai", 200],
    ["https://chatgpt.com", 200],
    ["http://localhost:6274", 200],
    ["http://127.0.0.1:3000", 200],
    ["http://[::1]:3000", 200],
    ["http://evil.example.com", 403],
    ["http://localhost.evil.example", 403],
    ["null", 403],
    ["not an origin", 403],
    ["https://claude.ai/path", 403],
    ["file://", 403],
  ];
  for (const [origin, status] of cases) {
    for (const path of ["/api/mcp", "/functions/v1/mcp"]) {
      assertEquals((await startConnector().post(PING, { path, headers: { origin } })).status, status, origin);
    }
    const document = await startConnector().request("GET", { path: FRONT_DOCUMENTS[0], headers: { origin } });
    assertEquals(document.status, 200);
  }
});

Deno.test("a preflight needs no token and allows the headers of real clients", async () => {
  const { request, calls } = startConnector();
  const response = await request("OPTIONS", {
    headers: {
      authorization: undefined,
      origin: "https://claude.ai",
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization, mcp-param-region, x-evil",
    },
  });
  assertEquals([response.status, calls.length], [204, 0]);
  assertEquals(response.headers.get("access-control-allow-methods"), "GET, HEAD, POST, DELETE, OPTIONS");
  assertEquals(
    response.headers.get("access-control-allow-headers"),
    "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID, X-Requested-With, mcp-param-region",
  );
  assertEquals(response.headers.get("access-control-max-age"), "86400");
});

Deno.test("a page can read every response, and each contains a request id", async () => {
  const broken = () => {
    throw new Error("unforeseen");
  };
  const fine = startConnector();
  const failing = startConnector({ authenticate_bearer: broken });
  const answers: [number, Response][] = [
    [200, await fine.post(PING)],
    [202, await fine.post({ jsonrpc: "2.0", method: "notifications/initialized" })],
    [204, await fine.request("DELETE")],
    [204, await fine.request("OPTIONS")],
    [400, await fine.post([])],
    [401, await fine.post(PING, { headers: { authorization: undefined } })],
    [403, await fine.post(PING, { headers: { origin: "null" } })],
    [404, await fine.request("GET", { path: "/nowhere" })],
    [405, await fine.request("PUT")],
    [413, await fine.post("x".repeat(1_048_577))],
    [500, await failing.post(PING)],
  ];
  for (const [status, response] of answers) {
    assertEquals(response.status, status);
    assertEquals(response.headers.get("access-control-allow-origin"), "*", String(status));
    assertEquals(response.headers.get("access-control-allow-credentials"), null);
    assertMatch(response.headers.get("access-control-expose-headers")!, /WWW-Authenticate.*Retry-After, X-Request-Id/);
    assertMatch(response.headers.get("x-request-id")!, /^[0-9a-f-]{36}$/);
  }
});

Deno.test("an internal error returns a request id and logs the reason", async () => {
  const { post, lines } = startConnector({
    authenticate_bearer: () => {
      throw new Error("relation oauth.tokens does not exist");
    },
  });
  const response = await post(PING);
  const { error } = await response.json();
  assertEquals(error.code, -32603);
  assertEquals(error.data.request_id, response.headers.get("x-request-id"));
  assertEquals(JSON.stringify(error).includes("oauth.tokens"), false);
  assertEquals(lines.some((line) => line.includes("oauth.tokens") && line.includes(error.data.request_id)), true);
});

Deno.test("logs contain nothing from the request", async () => {
  const { post, lines } = startConnector();
  const canary = "canary-3f9a";
  const headers = { "mcp-name": canary, "mcp-protocol-version": canary, "mcp-session-id": canary };
  await post({ jsonrpc: "2.0", id: canary, method: canary, params: { name: canary } }, { headers });
  await post(ERAS["2025-11-25"]("tools/call", { name: canary, arguments: { [canary]: canary } }).body);
  await post(ERAS["2025-11-25"]("tools/call", { name: "list_bills", arguments: { query: canary } }).body);
  assertEquals(lines.filter((line: Json) => line.includes(canary)), []);
});
