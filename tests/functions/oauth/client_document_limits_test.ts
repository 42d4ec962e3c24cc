/** Limits on fetching documents: by caller, by origin and in total, and exceptions. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { authorizationQuery, createHarness, type Harness, over } from "./harness.ts";
import {
  CALLBACK,
  connectApp,
  createClient,
  database,
  failed,
  FRESH,
  person,
  published,
  READ,
} from "./client_documents.ts";

let asked = 0;

/** Requests unread documents, each at its own URL, until it must wait. */
async function flood(
  harness: Harness,
  { from, urlOf, atMost = 200 }: { from: () => string; urlOf: (n: number) => string; atMost?: number },
) {
  harness.publish.answer = () => Promise.resolve({ ok: false, reason: "unresolvable" });
  const before = harness.fetched.length;
  for (let n = 0; n < atMost; n++) {
    const response = await harness.get(authorizationQuery(urlOf(asked++)), null, { "x-forwarded-for": from() });
    await response.body?.cancel();
    if (response.status === 429) {
      return { fetched: harness.fetched.length - before, retryAfter: Number(response.headers.get("retry-after")) };
    }
  }
  return { fetched: harness.fetched.length - before, retryAfter: 0 };
}

const newCaller = () => `203.0.${asked >> 8}.${asked & 255}`;

Deno.test("documents are fetched ten times a minute per caller, thirty per origin, a hundred and twenty in total", async () => {
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

Deno.test("beyond the limits fresh documents are served as usual, and stale ones to the client's users", async () => {
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

Deno.test("beyond the limits a page names the time to retry", async () => {
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
