import { assertEquals } from "@std/assert";
import { ROUTES } from "../../../shared/routes.ts";
import { createHarness, SITE } from "./harness.ts";

const harness = createHarness({
  call: <Result>(name: string) => Promise.resolve((name === "ping" ? { schema: 7 } : {}) as Result),
});
const DISCOVERY = ROUTES.filter(({ slug, path }) => slug === "oauth" && path.includes("/.well-known/")).map((
  { path },
) => path);

Deno.test("every discovery address serves the same document", async () => {
  assertEquals(DISCOVERY.length, 10);
  const bodies = await Promise.all(DISCOVERY.map(async (path) => {
    const response = await harness.request(path);
    assertEquals([response.status, response.headers.get("content-type")], [200, "application/json"]);
    assertEquals(response.headers.get("access-control-allow-origin"), "*");
    return await response.text();
  }));
  assertEquals(new Set(bodies).size, 1);
  assertEquals(JSON.parse(bodies[0]!), {
    issuer: SITE,
    authorization_endpoint: `${SITE}/api/oauth/authorize`,
    token_endpoint: `${SITE}/api/oauth/token`,
    registration_endpoint: `${SITE}/api/oauth/register`,
    revocation_endpoint: `${SITE}/api/oauth/revoke`,
    jwks_uri: `${SITE}/api/oauth/jwks`,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    token_endpoint_auth_methods_supported: ["none"],
    revocation_endpoint_auth_methods_supported: ["none"],
    code_challenge_methods_supported: ["S256"],
    scopes_supported: ["expenses:rw", "offline_access"],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    protected_resources: [`${SITE}/api/mcp`],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
  });
});

Deno.test("documents may be cached publicly for five minutes, endpoint responses never", async () => {
  for (const path of [...DISCOVERY, "/api/oauth/jwks"]) {
    const response = await harness.request(path);
    assertEquals(response.headers.get("cache-control"), "public, max-age=300");
    await response.body?.cancel();
  }
});

Deno.test("the document names configured addresses, whatever the caller claims", async () => {
  const plain = await (await harness.request(DISCOVERY[0]!)).text();
  const forged = await harness.request(DISCOVERY[0]!, {
    headers: { "x-forwarded-host": "evil.example", host: "evil.example" },
  });
  assertEquals(await forged.text(), plain);
  const direct = await harness.app.request("https://ref.supabase.example/functions/v1/oauth");
  assertEquals(await direct.text(), plain);
});

Deno.test("discovery responds to HEAD and preflights, and lists its methods in Allow", async () => {
  for (const path of [...DISCOVERY, "/api/oauth/jwks"]) {
    const head = await harness.request(path, { method: "HEAD" });
    assertEquals([head.status, await head.text()], [200, ""]);
    const preflight = await harness.request(path, {
      method: "OPTIONS",
      headers: { origin: "https://app.example", "access-control-request-headers": "mcp-protocol-version" },
    });
    assertEquals([preflight.status, preflight.headers.get("access-control-allow-origin")], [204, "*"]);
    assertEquals(preflight.headers.get("access-control-allow-headers")?.includes("MCP-Protocol-Version"), true);
    const post = await harness.request(path, { method: "POST" });
    assertEquals([post.status, post.headers.get("allow")], [405, "GET, HEAD, OPTIONS"]);
    await post.body?.cancel();
  }
});

Deno.test("the key set is empty, and unknown paths return JSON 404", async () => {
  assertEquals(await (await harness.request("/api/oauth/jwks")).json(), { keys: [] });
  const unknown = await harness.request("/.well-known/unknown");
  assertEquals([unknown.status, (await unknown.json()).error], [404, "invalid_request"]);
});

Deno.test("POST endpoints respond to preflights, and every response stays out of caches, indexes and referrers", async () => {
  for (const path of ["/api/oauth/token", "/api/oauth/register", "/api/oauth/revoke"]) {
    const preflight = await harness.request(path, { method: "OPTIONS" });
    assertEquals(preflight.headers.get("access-control-allow-methods"), "POST, OPTIONS");
    const get = await harness.request(path);
    assertEquals([get.status, get.headers.get("allow"), get.headers.get("cache-control")], [
      405,
      "POST, OPTIONS",
      "no-store",
    ]);
    assertEquals([get.headers.get("x-robots-tag"), get.headers.get("referrer-policy")], ["noindex", "no-referrer"]);
    await get.body?.cancel();
  }
});

Deno.test("the health check reports only the database's state and its schema version", async () => {
  const up = await harness.request("/api/health");
  assertEquals([up.status, await up.json()], [200, { ok: true, schema: 7 }]);
  const { request } = createHarness({ call: () => Promise.reject(new Error("down")) });
  const down = await request("/api/health");
  assertEquals([down.status, await down.json()], [503, { ok: false }]);
});
