/** Each real client, from its first probe to a connector call after a refresh (fixtures/clients.ts). */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { sharedDatabase } from "../../_support/database.ts";
import { type ClientFixture, CLIENTS } from "../../fixtures/clients.ts";
import { CHALLENGE, createPerson, type Json, RESOURCE, SITE, VERIFIER } from "./harness.ts";
import { createSite } from "./site.ts";

const database = await sharedDatabase();
const person = await createPerson(database, "clients@example.com", ["team"]);

const fixture = (name: string) =>
  Deno.readTextFile(new URL(`../../fixtures/client_documents/${name}`, import.meta.url));
const sent = (fields: Record<string, string | undefined>) =>
  new URLSearchParams(Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined));

for (const client of CLIENTS) {
  Deno.test(`${client.name} discovers, identifies itself, gets consent, calls, refreshes and calls again`, async () => {
    const site = createSite(database);
    const fetch = (path: string, init: RequestInit = {}) =>
      site.fetch(SITE + path, { ...init, headers: { ...client.headers, ...init.headers as Record<string, string> } });

    for (const probe of client.probes) await assertProbe(client, probe, fetch);
    const clientId = await identify(client, site, fetch);

    const query = sent({
      ...client.authorization,
      client_id: clientId,
      redirect_uri: client.redirectUri,
      code_challenge: CHALLENGE,
      state: "opaque state",
    });
    const authorizationUrl = new URL(`${SITE}/api/oauth/authorize?${query}`);
    const page = await site.harness.get(authorizationUrl.pathname + authorizationUrl.search, person);
    assertStringIncludes((await page.text()).replaceAll(/<[^>]+>/g, ""), client.says);
    const answer = await site.allow(authorizationUrl, person);
    assert(answer.href.startsWith(`${client.redirectUri}?`), answer.href);
    assertEquals([answer.searchParams.get("state"), answer.searchParams.get("iss")], ["opaque state", SITE]);

    const exchange = async (fields: Record<string, string | undefined>) => {
      const response = await fetch("/api/oauth/token", {
        method: "POST",
        body: sent({ client_id: clientId, ...fields }).toString(),
        headers: { "content-type": "application/x-www-form-urlencoded" },
      });
      const body: Json = await response.json();
      assertEquals(response.status, 200, JSON.stringify(body));
      assertEquals([body.token_type, body.scope, typeof body.expires_in], ["Bearer", "expenses:rw", "number"]);
      assertEquals(Object.values(body).includes(null), false);
      return body;
    };
    const tokens = await exchange({
      grant_type: "authorization_code",
      code: answer.searchParams.get("code")!,
      code_verifier: VERIFIER,
      redirect_uri: client.redirectUri,
      resource: client.resources.exchange,
    });
    await assertServed(fetch, tokens.access_token);
    const renewed = await exchange({
      grant_type: "refresh_token",
      refresh_token: tokens.refresh_token,
      resource: client.resources.refresh,
      scope: client.authorization.scope,
    });
    await assertServed(fetch, renewed.access_token);
  });
}

type Fetch = (path: string, init?: RequestInit) => Promise<Response>;

async function assertProbe(client: ClientFixture, probe: string, fetch: Fetch): Promise<void> {
  if (probe === "challenge") {
    const response = await fetch("/api/mcp", {
      method: "POST",
      body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: {} }),
      headers: { "content-type": "application/json" },
    });
    assertEquals(response.status, 401);
    const challenge = response.headers.get("www-authenticate")!;
    assertMatch(challenge, /^Bearer realm="mcp", resource_metadata="https:[^"]+", scope="expenses:rw"$/);
    await response.body?.cancel();
    return;
  }
  const response = await fetch(probe);
  const document: Json = await response.json();
  assertEquals([response.status, response.headers.get("access-control-allow-origin")], [200, "*"], client.name);
  if (probe.includes("protected-resource")) {
    assertEquals([document.resource, document.authorization_servers], [RESOURCE, [SITE]]);
  } else {
    assertEquals([document.issuer, document.code_challenge_methods_supported], [SITE, ["S256"]]);
  }
}

async function identify(client: ClientFixture, { harness }: ReturnType<typeof createSite>, fetch: Fetch) {
  if ("document" in client.identity) {
    const document = await fixture(client.identity.document);
    harness.publish.answer = () =>
      Promise.resolve({
        ok: true,
        status: 200,
        headers: new Headers({ "content-type": "application/json" }),
        body: new TextEncoder().encode(document),
      });
    return JSON.parse(document).client_id as string;
  }
  let clientId = "";
  for (let n = 0; n < (client.registrations ?? 1); n++) {
    const response = await fetch("/api/oauth/register", {
      method: "POST",
      body: JSON.stringify(client.identity.registration),
      headers: { "content-type": "application/json" },
    });
    const registered: Json = await response.json();
    assertEquals(response.status, 201, JSON.stringify(registered));
    assertEquals(registered.token_endpoint_auth_method, "none");
    assertEquals("client_secret" in registered, false);
    assertEquals(registered.redirect_uris, client.identity.registration.redirect_uris);
    clientId = registered.client_id;
  }
  return clientId;
}

async function assertServed(fetch: Fetch, accessToken: string): Promise<void> {
  const response = await fetch("/api/mcp", {
    method: "POST",
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "get_context" } }),
    headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/json", accept: "application/json" },
  });
  const answer: Json = await response.json();
  assertEquals([response.status, answer.result?.structuredContent?.ok], [200, true]);
}
