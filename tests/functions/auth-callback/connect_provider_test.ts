/** A credential is tried with its provider, then encrypted and stored, and never returned. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  assertNothingSaved,
  CANARY,
  connect,
  connected,
  connectPath,
  eventsOf,
  linksOf,
  providerTest,
  read,
  storedCredential,
} from "./provider_harness.ts";

providerTest("a credential that the provider accepts is encrypted for its link and stored", async (given) => {
  const { pages, database, household } = given;
  const location = await connected(household);
  const [asked] = pages.ask.asked;
  assertEquals(asked!.url, "https://api.meter.example/usage?month=2026-10-01&account=");
  assertEquals(asked!.headers.get("authorization"), `Bearer ${CANARY}`);
  const [link] = await linksOf(database);
  const { id, ...rest } = link!;
  assertEquals(rest, {
    bill: household.billId,
    provider_key: "meter",
    account_label: "Meter …tial",
    status: "active",
    has_credential: true,
  });
  assertEquals(await storedCredential(given, id), { key: CANARY });
  assertEquals(await eventsOf(database), ["provider.connected"]);

  const { status, page } = await read(household.browser.get(location));
  assertEquals(status, 200);
  assertStringIncludes(page, "is connected to Meter &amp; Sons");
  assert(!page.includes(CANARY));
  await household.browser.get(location);
  assertEquals(pages.ask.asked.length, 1, "looking again asks nobody");
});

providerTest(
  "a credential is stored even if the provider has no amount yet",
  async ({ pages, database, household }) => {
    pages.ask.answer = () => Response.json({ amount: "" });
    const { page } = await read(household.browser.get(await connected(household)));
    assertStringIncludes(page, "There is no final amount for last month yet.");
    assertEquals((await linksOf(database)).map(({ status }) => status), ["active"]);
  },
);

providerTest("surrounding spaces are trimmed", async (given) => {
  await connected(given.household, { key: `  ${CANARY}\t ` });
  const [link] = await linksOf(given.database);
  assertEquals(await storedCredential(given, link!.id), { key: CANARY });
});

/** The refusals and failures of providers, each of which echoes the credential as often as it can. */
const FAILURES: Record<
  string,
  { answer: (request: Request) => Response | Promise<Response>; status: number; words: RegExp }
> = {
  "refuses it": {
    answer: () => new Response(`no such key: ${CANARY}`, { status: 401, statusText: CANARY }),
    status: 400,
    words: /Meter &amp; Sons doesn’t accept what you entered\. It may be mistyped or expired/,
  },
  "does not let it read the amount": {
    answer: () => Response.json({ message: CANARY }, { status: 403 }),
    status: 400,
    words: /or not allowed to read what was charged/,
  },
  "limits our requests": {
    answer: () => new Response(CANARY, { status: 429, headers: { "retry-after": "240" } }),
    status: 503,
    words: /asks us to wait\. Try again in 4 minutes/,
  },
  "is down": { answer: () => new Response(CANARY, { status: 502 }), status: 503, words: /can’t be reached right now/ },
  "is out of reach": {
    answer: () => Promise.reject(new TypeError(`error sending ${CANARY}`)),
    status: 503,
    words: /can’t be reached right now/,
  },
  "returns a page": {
    answer: () => new Response(`<html>${CANARY}</html>`, { headers: { "content-type": "text/html" } }),
    status: 503,
    words: /We don’t understand the response from Meter &amp; Sons/,
  },
  "omits the amount": {
    answer: () => Response.json({ error: CANARY }),
    status: 503,
    words: /We don’t understand the response from Meter &amp; Sons/,
  },
  "has a faulty adapter": {
    answer: () => Response.json({ amount: "defect" }),
    status: 503,
    words: /Something went wrong on our side/,
  },
  "redirects elsewhere": {
    answer: () => new Response(null, { status: 302, headers: { location: `https://evil.example/?${CANARY}` } }),
    status: 503,
    words: /We don’t understand the response from Meter &amp; Sons/,
  },
};

for (const [what, { answer, status, words }] of Object.entries(FAILURES)) {
  providerTest(
    `nothing is saved or repeated when the provider ${what}`,
    async ({ pages, database, household }) => {
      pages.ask.answer = answer;
      const refused = await read(connect(household));
      assertEquals(refused.status, status);
      assertMatch(refused.page, words);
      assertStringIncludes(refused.page, "Nothing was saved");
      assert(!refused.page.includes(CANARY) && !JSON.stringify([...refused.headers]).includes(CANARY));
      if (status === 400) assertMatch(refused.page, /<input id="credential_key"[^>]*aria-invalid="true"/);
      await assertNothingSaved(database);
      // The same page accepts the credential once the provider does.
      pages.ask.answer = () => Response.json({ amount: "1" });
      const again = await household.browser.submit(refused.page, "credential_key", { credential_key: CANARY });
      assertEquals(again.status, 303);
    },
  );
}

providerTest(
  "a malformed credential is marked without calling the provider",
  async ({ pages, database, household }) => {
    const page = await (await household.browser.get(connectPath(household.billId))).text();
    for (
      const [fields, words] of [
        [{ credential_key: "" }, "Fill this in."],
        [{ credential_key: "canary7" }, "That key looks incomplete. Copy it again."],
        [{ credential_key: `${CANARY} and more` }, "That key looks incomplete. Copy it again."],
        [{ credential_key: CANARY, credential_account: "canary7" }, "That doesn’t look right. Check it for typos."],
      ] as const
    ) {
      const refused = await read(household.browser.submit(page, "credential_key", fields));
      assertEquals(refused.status, 400);
      assertStringIncludes(refused.page, words);
      assert(!refused.page.includes("canary"), "what was typed came back");
    }
    assertEquals(pages.ask.asked.length, 0);
    await assertNothingSaved(database);
  },
);

providerTest(
  "fields that aren't secret keep their input, unless it is wrong or contains the secret",
  async ({ pages, household }) => {
    pages.ask.answer = () => new Response(null, { status: 401 });
    const page = await (await household.browser.get(connectPath(household.billId))).text();
    const accountAfter = async (fields: Record<string, string>) => {
      const { page: refused } = await read(household.browser.submit(page, "credential_key", fields));
      assert(!refused.includes(CANARY));
      return /<input id="credential_account"[^>]*value="([^"]*)"/.exec(refused)?.[1];
    };
    assertEquals(await accountAfter({ credential_key: CANARY, credential_account: "4711" }), "4711");
    assertEquals(await accountAfter({ credential_key: "short", credential_account: "4711" }), "4711");
    assertEquals(await accountAfter({ credential_key: CANARY, credential_account: CANARY }), undefined);
    assertEquals(await accountAfter({ credential_key: "4711", credential_account: "94711" }), undefined);
  },
);
