import { assertEquals, assertMatch } from "@std/assert";
import { sharedDatabase } from "../../_support/database.ts";
import { createHarness, over } from "./harness.ts";

const database = await sharedDatabase();
const harness = createHarness(over(database));

Deno.test("a client registers in one database call and learns its effective metadata", async () => {
  harness.calls.length = 0;
  const response = await harness.register({
    client_name: "Inspector",
    redirect_uris: ["http://127.0.0.1:6276/oauth/callback"],
    token_endpoint_auth_method: "client_secret_basic",
    scope: "",
    application_type: "native",
  });
  const { client_id, ...metadata } = await response.json();
  assertEquals(response.status, 201);
  assertMatch(client_id, /^client_[\w-]{24}$/);
  assertEquals(metadata, {
    client_id_issued_at: 1795168800,
    client_name: "Inspector",
    redirect_uris: ["http://127.0.0.1:6276/oauth/callback"],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    scope: "expenses:rw",
  });
  assertEquals(response.headers.get("cache-control"), "no-store");
  assertEquals(response.headers.get("access-control-allow-origin"), "*");
  assertEquals(harness.calls, ["register_client"]);
});

Deno.test("a redirect URI on a maker's domain registers only when it is listed or the operator added it", async () => {
  const redirect_uri = "https://claude.ai/new/callback";
  const register = async (knownApps: [string, string][]) => {
    const response = await createHarness(over(database), { knownApps }).register({ redirect_uris: [redirect_uri] });
    await response.body?.cancel();
    return response.status;
  };
  assertEquals(await register([["Claude", redirect_uri]]), 201);
  assertEquals(await register([]), 400);
});

Deno.test("register accepts any characters in a name", async () => {
  for (const client_name of ["'; drop table oauth.clients; --", "\ud800\u0000x", "😀".repeat(3000), "<script>"]) {
    const response = await harness.register({ client_name, redirect_uris: ["https://app.example/cb"] });
    assertEquals(response.status, 201);
    await response.body?.cancel();
  }
});

Deno.test("an invalid registration is refused with an RFC 7591 error, without a database call", async () => {
  const refused: [unknown, string][] = [
    [[], "invalid_client_metadata"],
    [{ redirect_uris: ["https://app.example/cb"], client_name: [] }, "invalid_client_metadata"],
    [{}, "invalid_redirect_uri"],
    [{ redirect_uris: ["http://app.example/cb"] }, "invalid_redirect_uri"],
    [{ redirect_uris: Array(11).fill("https://app.example/cb") }, "invalid_redirect_uri"],
  ];
  harness.calls.length = 0;
  for (const [body, error] of refused) {
    const response = await harness.register(body);
    assertEquals([response.status, (await response.json()).error], [400, error]);
    assertEquals(response.headers.get("cache-control"), "no-store");
  }
  const broken = await harness.request("/api/oauth/register", { method: "POST", body: "{" });
  assertEquals([broken.status, (await broken.json()).error], [400, "invalid_client_metadata"]);
  const large = await harness.register({
    redirect_uris: ["https://app.example/cb"],
    client_uri: "x".repeat(16 * 1024),
  });
  assertEquals([large.status, (await large.json()).error], [413, "invalid_request"]);
  assertEquals(harness.calls, []);
});

Deno.test("an endless body is read only up to the limit", async () => {
  let sent = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      sent += 1024;
      controller.enqueue(new Uint8Array(1024).fill(32));
    },
  });
  const response = await harness.request("/api/oauth/register", { method: "POST", body: endless });
  assertEquals(response.status, 413);
  await response.body?.cancel();
  // The first 64 KiB of any body are read before the limit is known.
  assertEquals(sent <= 68 * 1024, true, `${sent} bytes`);
});
