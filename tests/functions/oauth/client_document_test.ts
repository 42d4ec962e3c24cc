/**
 * Clients identified by the URL of their metadata: fetched once, cached as long as their owner says, and no way to make
 * us fetch arbitrary URLs.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { RateLimits } from "../../../shared/config.ts";
import { createGuardedFetch, type GuardedAnswer } from "../../../shared/net/guarded_fetch.ts";
import { createDenoNetwork } from "../../../shared/net/deno_network.ts";
import { openDatabase } from "../../_support/database.ts";
import { createIssuer, serveTls } from "../../_support/tls.ts";
import {
  answerOf,
  authorizationQuery,
  connect,
  createHarness,
  createPerson,
  exchangeFields,
  type Fields,
  type Harness,
  over,
  refreshFields,
  SITE,
} from "./harness.ts";

const database = await openDatabase();
Deno.test.afterAll(() => database.close());
const person = await createPerson(database, "documents@example.com", ["team"]);

const CALLBACK = "https://client.example/callback";
let count = 0;

type Metadata = Record<string, unknown>;
const published = (document: unknown, headers: Record<string, string> = {}): GuardedAnswer => ({
  ok: true,
  status: 200,
  headers: new Headers({ "content-type": "application/json", ...headers }),
  body: new TextEncoder().encode(typeof document === "string" ? document : JSON.stringify(document)),
});
const failed = (status: number): GuardedAnswer => ({
  ok: true,
  status,
  headers: new Headers(),
  body: new Uint8Array(),
});

/** A separate client and harness for each test: failures are remembered per process. */
function createClient(
  { rateLimits = "off", host = "client.example" }: { rateLimits?: RateLimits; host?: string } = {},
) {
  const harness = createHarness(over(database), { rateLimits });
  const clientId = `https://${host}/${count++}/client.json`;
  const ask = (more: Fields = {}, visitor: typeof person | null = person, headers: Record<string, string> = {}) =>
    harness.get(authorizationQuery(clientId, { redirect_uri: CALLBACK, ...more }), visitor, headers);
  const answer = (given: GuardedAnswer) => void (harness.publish.answer = () => Promise.resolve(given));
  const publish = (more: Metadata = {}, headers: Record<string, string> = {}) =>
    answer(
      published({ client_id: clientId, client_name: "Example", redirect_uris: [CALLBACK], ...more }, headers),
    );
  publish();
  return {
    harness,
    clientId,
    answer,
    publish,
    ask,
    /** Status of the page, and the number of fetches and database calls it took. */
    async looks(...request: Parameters<typeof ask>) {
      const [fetches, calls] = [harness.fetched.length, harness.calls.length];
      const response = await ask(...request);
      await response.body?.cancel();
      return [response.status, harness.fetched.length - fetches, harness.calls.length - calls];
    },
  };
}

const FRESH = [200, 0, 1];
const READ = [200, 1, 2];

async function connectApp({ harness, clientId }: { harness: Harness; clientId: string }) {
  const page = await (await harness.get(authorizationQuery(clientId, { redirect_uri: CALLBACK }), person)).text();
  const decided = await harness.decide(page, { action: "approve", organization_id: person.organizations[0] }, person);
  const code = answerOf(decided).code!;
  const response = await harness.post("token", exchangeFields(clientId, code, { redirect_uri: CALLBACK }));
  assertEquals(response.status, 200);
  return await response.json();
}

Deno.test("a document is fetched once, in two database calls, and a fresh one takes one call", async () => {
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

Deno.test("a well-known name at another host is met with doubt, wherever the answer goes", async () => {
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

Deno.test("Claude Code's portless callback connects from any port; nothing is fetched for its tokens", async () => {
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

Deno.test("the token endpoint fetches nothing for a client that nobody has seen", async () => {
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

Deno.test("a document is read again when its owner's time is over, within five minutes and a day", async () => {
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

Deno.test("a redirect URI that a document drops is refused at the next authorization; existing connections stay", async () => {
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

/** Bad documents that may be published or found, and how each is described. */
const BAD: Record<string, GuardedAnswer> = {
  "a redirect": { ...failed(302), headers: new Headers({ location: "http://169.254.169.254/" }) } as GuardedAnswer,
  "nothing": failed(404),
  "no content": failed(204),
  "a page": published("<html>", { "content-type": "text/html" }),
  "JSON that says it is text": published({}, { "content-type": "text/plain" }),
  "broken JSON": published("{"),
  "a list": published([]),
  "another client's document": published({
    client_id: "https://other.example/c",
    client_name: "X",
    redirect_uris: [CALLBACK],
  }),
  "more than 5 KB": { ok: false, reason: "too_large" },
  "a compressed body": { ok: false, reason: "encoded" },
  "a private address": { ok: false, reason: "address_not_public" },
};
const OUTAGES: Record<string, GuardedAnswer> = {
  "a server error": failed(503),
  "too many requests": failed(429),
  "no address": { ok: false, reason: "unresolvable" },
  "no connection": { ok: false, reason: "unreachable" },
  "a certificate of another name": { ok: false, reason: "tls_failed" },
  "no end in time": { ok: false, reason: "timed_out" },
  "half an answer": { ok: false, reason: "cut_short" },
  "no HTTP": { ok: false, reason: "malformed" },
};

for (const [what, answer] of Object.entries({ ...BAD, ...OUTAGES })) {
  Deno.test(`a client is not known by ${what}: a page, no redirect, nothing kept but for a moment in memory`, async () => {
    for (const visitor of [person, null]) {
      const client = createClient();
      client.answer(answer);
      const response = await client.ask({}, visitor);
      assertEquals([response.status, response.headers.get("location")], [400, null]);
      const text = await response.text();
      assertStringIncludes(text, "We couldn’t look this app up");
      // Nothing that was read, and no reason: it would reveal what exists where.
      for (const told of ["169.254", "other.example", "address_not_public", "client.example"]) {
        assertEquals(text.includes(told), false, told);
      }
      const [kept] = await database.query<{ n: number }>(
        "select count(*)::int as n from oauth.clients where client_id = $1",
        [client.clientId],
      );
      assertEquals(kept!.n, 0);

      client.publish();
      assertEquals((await client.looks({}, visitor))[1], 0);
      client.harness.later(29);
      assertEquals((await client.looks({}, visitor))[1], 0);
      client.harness.later(1);
      assertEquals((await client.looks({}, visitor))[1], 1);
    }
  });
}

Deno.test("an outage of a client's server keeps out nobody who uses it, for a day; its word keeps out everybody at once", async () => {
  for (const [what, answer] of Object.entries(OUTAGES)) {
    const client = createClient();
    const strange = createClient();
    await strange.looks();
    await connectApp(client);
    for (const each of [client, strange]) {
      each.answer(answer);
      each.harness.later(301);
    }
    assertEquals(await client.looks(), [200, 1, 1], what);
    assertEquals(await strange.looks(), [400, 1, 1], what);
    client.harness.later(24 * 3600 - 2);
    assertEquals(await client.looks(), [200, 1, 1], what);
    client.harness.later(31);
    assertEquals(await client.looks(), [400, 1, 1], what);
  }
  for (const [what, answer] of Object.entries(BAD)) {
    const client = createClient();
    await connectApp(client);
    client.answer(answer);
    client.harness.later(301);
    assertEquals(await client.looks(), [400, 1, 1], what);
  }
});

Deno.test("a client whose grants have ended gets no stale document", async () => {
  const client = createClient();
  const { refresh_token } = await connectApp(client);
  await (await client.harness.post("revoke", { client_id: client.clientId, token: refresh_token })).body?.cancel();
  client.answer(failed(503));
  client.harness.later(301);
  assertEquals(await client.looks(), [400, 1, 1]);
});

Deno.test("who asks at the same time shares one fetch", async () => {
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

/** Requests unread documents, each at its own URL, until told to wait. */
async function flood(
  harness: Harness,
  { from, urlOf, atMost = 200 }: { from: () => string; urlOf: (n: number) => string; atMost?: number },
) {
  harness.publish.answer = () => Promise.resolve({ ok: false, reason: "unresolvable" });
  const before = harness.fetched.length;
  for (let n = 0; n < atMost; n++) {
    const response = await harness.get(authorizationQuery(urlOf(count++)), null, { "x-forwarded-for": from() });
    await response.body?.cancel();
    if (response.status === 429) {
      return { fetched: harness.fetched.length - before, retryAfter: Number(response.headers.get("retry-after")) };
    }
  }
  return { fetched: harness.fetched.length - before, retryAfter: 0 };
}

const newCaller = () => `203.0.${count >> 8}.${count & 255}`;

Deno.test("documents are fetched ten times a minute per caller, thirty per origin, a hundred and twenty in all", async () => {
  const minute = (harness: Harness) => harness.later(60);
  const harness = createHarness(over(database));
  const elsewhere = (n: number) => `https://host-${n}.example/c`;

  assertEquals(await flood(harness, { from: () => "203.0.113.9", urlOf: elsewhere }), { fetched: 10, retryAfter: 6 });
  minute(harness);
  assertEquals((await flood(harness, { from: newCaller, urlOf: (n) => `https://one.example/${n}` })).fetched, 30);
  minute(harness);
  assertEquals((await flood(harness, { from: newCaller, urlOf: elsewhere })).fetched, 120);
  assertEquals((await flood(harness, { from: newCaller, urlOf: elsewhere })).fetched, 0);
  minute(harness);
  const evenly = await flood(harness, { from: () => "203.0.113.9", urlOf: elsewhere });
  assertEquals(evenly.fetched, 10);
});

Deno.test("past the limits fresh documents are served as usual, and stale ones to the client's users", async () => {
  const connected = createClient({ rateLimits: { client_document_all: 3, client_document_connected: 1 } });
  const { harness } = connected;
  harness.later(14 * 24 * 3600);
  await connectApp(connected);
  assertEquals((await flood(harness, { from: newCaller, urlOf: (n) => `https://host-${n}.example/c` })).fetched, 2);
  assertEquals(await connected.looks(), FRESH);
  harness.later(301);
  connected.answer(failed(503));
  assertEquals(await connected.looks(), [200, 1, 1]);
  connected.publish();
  harness.later(31);
  assertEquals(await connected.looks(), FRESH);
});

Deno.test("strangers' documents do not use up the budget of connected clients", async () => {
  const connected = createClient({ rateLimits: { client_document_all: 3, client_document_connected: 1 } });
  const { harness } = connected;
  harness.later(35 * 24 * 3600);
  await connectApp(connected);
  harness.later(25 * 3600);
  assertEquals((await flood(harness, { from: newCaller, urlOf: (n) => `https://host-${n}.example/c` })).fetched, 3);
  connected.publish();
  assertEquals(await connected.looks(), READ);
  harness.later(301);
  assertEquals(await connected.looks(), READ);
});

Deno.test("one caller gets two hundred documents a day, not counting those it uses", async () => {
  const { harness, clientId, publish, ...connected } = createClient({ rateLimits: { client_document_day: 4 } });
  harness.later(42 * 24 * 3600);
  await connectApp({ harness, clientId });
  const from = "203.0.113.70";
  const first = await flood(harness, { from: () => from, urlOf: (n) => `https://host-${n}.example/c` });
  assertEquals(first, { fetched: 4, retryAfter: 21600 });
  harness.later(301);
  publish();
  assertEquals(await connected.looks({}, person, { "x-forwarded-for": from }), READ);
});

Deno.test("twenty callers at their limit leave others their share", async () => {
  const harness = createHarness(over(database));
  harness.later(49 * 24 * 3600);
  const elsewhere = (n: number) => `https://host-${n}.example/c`;
  let fetched = 0;
  for (let caller = 0; caller < 20; caller++) {
    fetched += (await flood(harness, { from: () => `198.51.100.${caller}`, urlOf: elsewhere })).fetched;
  }
  assertEquals(fetched < 120, true, `${fetched}`);
  assertEquals((await flood(harness, { from: () => "203.0.113.71", urlOf: elsewhere })).fetched > 0, true);
});

Deno.test("a well-known client's metadata URL is always served, whatever strangers have used up or target", async () => {
  const harness = createHarness(over(database), {
    rateLimits: {
      ...{ client_document_ip: 1, client_document_day: 1, client_document_origin: 1 },
      ...{ client_document_all: 1, client_document_connected: 1, client_document_maker: 1 },
    },
  });
  harness.later(56 * 24 * 3600);
  const from = "203.0.113.72";
  for await (const { name } of Deno.readDir(new URL("../../fixtures/client_documents/", import.meta.url))) {
    const document = await Deno.readTextFile(new URL(`../../fixtures/client_documents/${name}`, import.meta.url));
    const { client_id: clientId, redirect_uris: [redirect_uri] } = JSON.parse(document);
    const { origin } = new URL(clientId);
    for (const urlOf of [(n: number) => `https://host-${n}.example/c`, (n: number) => `${origin}/${n}/c`]) {
      await flood(harness, { from: () => from, urlOf });
      assertEquals(
        (await flood(harness, { from: newCaller, urlOf })).fetched <= 1,
        true,
        "nothing is left to strangers",
      );
    }
    harness.publish.answer = () => Promise.resolve(published(document));
    const response = await harness.get(authorizationQuery(clientId, { redirect_uri }), person, {
      "x-forwarded-for": from,
    });
    assertEquals(response.status, 200, clientId);
    await response.body?.cancel();
    harness.later(301);
    const again = await harness.get(authorizationQuery(clientId, { redirect_uri }), null, { "x-forwarded-for": from });
    assertEquals([again.status, harness.fetched.at(-1)!.url], [302, clientId]);
    await again.body?.cancel();
    await database.query("delete from oauth.clients where client_id = $1", [clientId]);
  }
});

Deno.test("past the limits a page says when to retry", async () => {
  const client = createClient({ rateLimits: { client_document_ip: 1 } });
  client.harness.later(21 * 24 * 3600);
  const from = { "x-forwarded-for": "203.0.113.77" };
  assertEquals(await client.looks({}, person, from), READ);
  const other = authorizationQuery("https://other.example/c", { redirect_uri: CALLBACK });
  const refused = await client.harness.get(other, person, from);
  assertEquals([refused.status, refused.headers.get("retry-after"), refused.headers.get("location")], [
    429,
    "60",
    null,
  ]);
  assertStringIncludes(refused.headers.get("content-type")!, "text/html");
  await refused.body?.cancel();
  assertEquals(client.harness.fetched.length, 1);
});

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

Deno.test("a URL that may not be fetched is refused on a page, without asking anybody", async () => {
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

Deno.test("with a valid client a person signs in first; the redirect URI is checked before that", async () => {
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

Deno.test("with the database down nothing is fetched", async () => {
  const harness = createHarness({ call: () => Promise.reject(new Error("down")) });
  const response = await harness.get(authorizationQuery("https://client.example/c"), person);
  assertEquals([response.status, harness.fetched], [500, []]);
  await response.body?.cancel();
});

Deno.test("from DNS answer to consent page: the real fetch, over TLS from a local server", async () => {
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
  assertStringIncludes(text, "sends you back to claude.com");
  assert(server.requests[0]!.startsWith("GET /oauth/mcp-oauth-client-metadata HTTP/1.1\r\nhost: claude.ai\r\n"));

  // The same name, after its zone was taken over.
  address = "127.0.0.1";
  const other = await harness.get(authorizationQuery("https://claude.ai/oauth/other", { redirect_uri }), person);
  assertEquals([other.status, server.connections()], [400, 1]);
  await other.body?.cancel();
  await server.close();
});
