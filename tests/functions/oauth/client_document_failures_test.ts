/**
 * Invalid or unreachable metadata documents: the page, the stored state, and the clients that may use a stale
 * document.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import type { GuardedAnswer } from "../../../shared/net/guarded_fetch.ts";
import { CALLBACK, connectApp, createClient, database, failed, person, published } from "./client_documents.ts";

/** Invalid documents, with the description of each. */
const BAD: Record<string, GuardedAnswer> = {
  "a redirect": { ...failed(302), headers: new Headers({ location: "http://169.254.169.254/" }) } as GuardedAnswer,
  "nothing": failed(404),
  "no content": failed(204),
  "a page": published("<html>", { "content-type": "text/html" }),
  "JSON labeled as text": published({}, { "content-type": "text/plain" }),
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
  Deno.test(`${what} does not identify a client: the response is a page without a redirect, and nothing is stored`, async () => {
    for (const visitor of [person, null]) {
      const client = createClient();
      client.answer(answer);
      const response = await client.ask({}, visitor);
      assertEquals([response.status, response.headers.get("location")], [400, null]);
      const text = await response.text();
      assertStringIncludes(text, "We couldn’t look this app up");
      // The page shows neither the document nor a reason, which would reveal internal addresses.
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

Deno.test("during an outage of a client's server its users keep access for a day, but its own refusal applies at once", async () => {
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
