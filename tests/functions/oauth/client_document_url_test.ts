/** Neither spelling nor DNS can make the server fetch arbitrary URLs. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createGuardedFetch } from "../../../shared/net/guarded_fetch.ts";
import { createDenoNetwork } from "../../../shared/net/deno_network.ts";
import { createIssuer, serveTls } from "../../_support/tls.ts";
import { authorizationQuery, SITE } from "./harness.ts";
import { CALLBACK, createClient, person } from "./client_documents.ts";

const ATTACKS = [
  ...["https://127.0.0.1/c", "https://2130706433/c", "https://0x7f.1/c", "https://0177.0.0.1/c", "https://[::1]/c"],
  ...["https://[::ffff:169.254.169.254]/c", "https://169.254.169.254/latest/meta-data", "https://localhost/c"],
  ...[
    "https://metadata.google.internal/c",
    "https://printer.local/c",
    "https://db/c",
    "https://1.0.0.127.in-addr.arpa/c",
  ],
  ...[
    "https://client.example:8443/c",
    "https://a:b@client.example/c",
    "https://client.example/c#x",
    "https://client.example./c",
  ],
  ...[
    "https://client.example/a/../c",
    "https://client.example/%2e%2e/c",
    "https://CLIENT.example/c",
    "https://client.example",
  ],
  ...["https://client.example/", "https://ref.supabase.co/functions/v1/oauth", "https://x.supabase.red/c", `${SITE}/c`],
  ...["https://ref.supabase.example/c", "http://client.example/c", "https://client.example\\@evil.example/c"],
  "https://client.example/" + "x".repeat(500),
];

Deno.test("a page refuses a forbidden URL without any request", async () => {
  const { harness } = createClient();
  for (const attack of ATTACKS) {
    for (const visitor of [person, null]) {
      const response = await harness.get(authorizationQuery(attack, { redirect_uri: CALLBACK }), visitor);
      assertEquals([response.status, response.headers.get("location")], [400, null], attack);
      await response.body?.cancel();
    }
  }
  assertEquals([harness.fetched, harness.calls], [[], []]);
});

Deno.test("a client document is fetched over TLS for the consent page, but not from a private address", async () => {
  const issuer = createIssuer();
  const document = await Deno.readTextFile(new URL("../../fixtures/client_documents/claude.json", import.meta.url));
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: max-age=3600\r\n`;
  const server = serveTls(issuer.issue("claude.ai"), async (connection) => {
    const bytes = new TextEncoder().encode(
      `${head}Content-Length: ${new TextEncoder().encode(document).length}\r\n\r\n${document}`,
    );
    for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
  });
  const deno = createDenoNetwork({ caCerts: [issuer.certificate] });
  let address = "160.79.104.10";
  const guarded = createGuardedFetch({
    network: {
      ...deno,
      resolve: (name, type) => Promise.resolve(type === "A" && name === "claude.ai" ? [address] : []),
      connect: (dialled) =>
        dialled === address ? deno.connect("127.0.0.1", server.port) : Promise.reject(new Error(dialled)),
    },
    fetch: () => Promise.reject(new Error("unexpected fetch")),
    refusedHosts: [],
  });
  const { harness } = createClient();
  harness.publish.answer = (url) => guarded({ url, maxBytes: 5120 });

  const clientId = JSON.parse(document).client_id;
  const redirect_uri = "https://claude.com/api/mcp/auth_callback";
  const page = await (await harness.get(authorizationQuery(clientId, { redirect_uri }), person)).text();
  const text = page.replaceAll(/<[^>]+>/g, "");
  assertStringIncludes(text, "Claude wants to use your expenses");
  assertStringIncludes(text, "Claude, by Anthropic (verified: claude.com)");
  assertStringIncludes(text, "send you back to claude.com");
  assert(server.requests[0]!.startsWith("GET /oauth/mcp-oauth-client-metadata HTTP/1.1\r\nhost: claude.ai\r\n"));

  // The same name, after its zone was taken over.
  address = "127.0.0.1";
  const other = await harness.get(authorizationQuery("https://claude.ai/oauth/other", { redirect_uri }), person);
  assertEquals([other.status, server.connections()], [400, 1]);
  await other.body?.cancel();
  await server.close();
});
