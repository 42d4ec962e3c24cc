/**
 * Clients identified by the URL of their metadata: fetched once, cached as long as their owner allows, and named by the
 * host that vouches for them.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { authorizationQuery, connect, createHarness, exchangeFields, refreshFields } from "./harness.ts";
import { connectApp, createClient, FRESH, person, published, READ } from "./client_documents.ts";

Deno.test("a document is fetched once, in two database calls, and a fresh one needs one call", async () => {
  const client = createClient();
  assertEquals(await client.looks(), READ);
  assertEquals(client.harness.calls, ["open_document_consent", "store_client_document"]);
  assertEquals(client.harness.fetched[0]!.url, client.clientId);
  assertEquals(client.harness.fetched[0]!.maxBytes, 5120);
  for (let n = 0; n < 3; n++) assertEquals(await client.looks(), FRESH);
});

Deno.test("the page names the host that vouches for the client", async () => {
  const client = createClient({ host: "apps.example.net" });
  const text = (await (await client.ask()).text()).replaceAll(/<[^>]+>/g, "");
  assertStringIncludes(text, "Example wants to use your expenses");
  assertStringIncludes(text, "Published by example.net");
  assertEquals(text.includes("verified"), false);
  assertEquals(text.includes("can’t tell"), false);
});

Deno.test("a known vendor's name at another host triggers a warning", async () => {
  for (
    const redirect_uri of [
      "https://client.example/cb",
      "https://claude.ai/api/mcp/auth_callback",
      "http://localhost/cb",
    ]
  ) {
    const client = createClient();
    client.publish({ client_name: "Claude", redirect_uris: [redirect_uri] });
    const text = (await (await client.ask({ redirect_uri })).text()).replaceAll(/<[^>]+>/g, "");
    assertStringIncludes(text, "we can’t tell whether client.example belongs to it");
  }
});

Deno.test("Claude Code's portless callback connects from any port, and its tokens need no fetch", async () => {
  const fixture = await Deno.readTextFile(new URL("../../fixtures/client_documents/claude_code.json", import.meta.url));
  const { client_id: clientId } = JSON.parse(fixture);
  const { harness, answer } = createClient();
  answer(published(fixture));
  // The harness's own callback: http://localhost:54123/callback.
  const tokens = await connect(harness, { clientId, person });
  const refreshed = await harness.post("token", refreshFields(clientId, tokens.refresh_token));
  assertEquals(refreshed.status, 200);
  const { access_token } = await refreshed.json();
  assertEquals((await harness.post("revoke", { client_id: clientId, token: access_token })).status, 200);
  assertEquals(harness.fetched.length, 1);

  for (const redirect_uri of ["http://localhost:1/callback/", "http://localhost:1/", "http://[::1]:1/callback"]) {
    const refused = await harness.get(authorizationQuery(clientId, { redirect_uri }), person);
    assertEquals([refused.status, refused.headers.get("location")], [400, null]);
    await refused.body?.cancel();
  }
});

Deno.test("the token endpoint fetches nothing for an unknown client", async () => {
  const { harness, clientId } = createClient();
  const unknown = [
    await harness.post("token", exchangeFields(clientId, "x.y")),
    await harness.post("token", refreshFields(clientId, `exp_rt_${"x".repeat(43)}`)),
    await harness.post("revoke", { client_id: clientId, token: "x" }),
  ];
  for (const response of unknown) {
    assertEquals([response.status, (await response.json()).error], [401, "invalid_client"]);
  }
  assertEquals(harness.fetched, []);
});

Deno.test("a document is fetched again when its cache time ends, between five minutes and a day", async () => {
  const day = 24 * 3600;
  const told: [Record<string, string>, number][] = [
    [{ "cache-control": "max-age=600" }, 600],
    [{ "cache-control": "no-store" }, 300],
    [{}, 300],
    [{ "cache-control": "max-age=31536000" }, day],
  ];
  for (const [headers, seconds] of told) {
    const client = createClient();
    client.publish({}, headers);
    assertEquals(await client.looks(), READ);
    client.harness.later(seconds - 1);
    assertEquals(await client.looks(), FRESH);
    client.harness.later(1);
    assertEquals(await client.looks(), READ);
    assertEquals(await client.looks(), FRESH);
  }
});

Deno.test("a redirect URI that a document drops is refused at the next authorization, and existing connections stay", async () => {
  const client = createClient();
  const tokens = await connectApp(client);
  client.publish({ redirect_uris: ["https://client.example/new"], client_name: "Renamed" });
  client.harness.later(301);
  const refused = await client.ask();
  assertEquals([refused.status, refused.headers.get("location")], [400, null]);
  assertStringIncludes(await refused.text(), "an address that the app never registered");
  const renamed = await client.ask({ redirect_uri: "https://client.example/new" });
  assertStringIncludes(await renamed.text(), "Renamed");
  const refreshed = await client.harness.post("token", refreshFields(client.clientId, tokens.refresh_token));
  assertEquals(refreshed.status, 200);
  await refreshed.body?.cancel();
});

Deno.test("concurrent requests share one fetch", async () => {
  const client = createClient();
  const answer = client.harness.publish.answer;
  const released = Promise.withResolvers<void>();
  client.harness.publish.answer = async (url) => {
    await released.promise;
    return await answer(url);
  };
  const asking = Array.from({ length: 5 }, () => client.ask());
  while (client.harness.calls.length < 5) await new Promise((resolve) => setTimeout(resolve, 5));
  released.resolve();
  for (const response of await Promise.all(asking)) {
    assertEquals(response.status, 200);
    await response.body?.cancel();
  }
  assertEquals(client.harness.fetched.length, 1);
});

Deno.test("with a valid client a person signs in first, after the redirect URI was checked", async () => {
  const client = createClient();
  const stranger = await client.ask({}, null);
  assertEquals([stranger.status, stranger.headers.get("location")?.startsWith("/login?next=")], [302, true]);
  const refused = await client.ask({ redirect_uri: "https://client.example/other" }, null);
  assertEquals([refused.status, refused.headers.get("location")], [400, null]);
  await refused.body?.cancel();
  const silent = await client.ask({ prompt: "none" }, null);
  assertEquals([silent.status, silent.headers.get("location")], [400, null]);
  assertStringIncludes(await silent.text(), "error=login_required");
});

Deno.test("a database outage prevents every fetch", async () => {
  const harness = createHarness({ call: () => Promise.reject(new Error("down")) });
  const response = await harness.get(authorizationQuery("https://client.example/c"), person);
  assertEquals([response.status, harness.fetched], [500, []]);
  await response.body?.cancel();
});
