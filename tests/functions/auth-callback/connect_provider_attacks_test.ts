/** Forged and oversized requests to the credential page, guesses, and a moved credential. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { EnvelopeError } from "../../../shared/credentials/envelope.ts";
import {
  assertNothingSaved,
  CANARY,
  connected,
  connectPath,
  linksOf,
  openHousehold,
  providerTest,
  read,
  storedCredential,
  tokenOf,
} from "./provider_harness.ts";

providerTest(
  "forms from other sites, other people and other days do nothing",
  async ({ pages, database, household }) => {
    const other = await openHousehold(pages, database, "other@example.com");
    const path = connectPath(household.billId);
    const own = tokenOf(await (await household.browser.get(path)).text());
    const theirs = tokenOf(await (await other.browser.get(connectPath(other.billId))).text());
    const send = (fields: Record<string, string>, headers = {}) =>
      household.browser.post(path, { credential_key: CANARY, ...fields }, headers);
    assertEquals((await send({})).status, 403);
    assertEquals((await send({ form_token: theirs })).status, 403);
    assertEquals((await send({ form_token: own }, { "sec-fetch-site": "cross-site" })).status, 403);
    assertEquals((await send({ form_token: own }, { "sec-fetch-site": "same-site" })).status, 403);
    pages.clock.now = new Date(pages.clock.now.getTime() + 13 * 3600_000);
    const late = await read(send({ form_token: own }));
    assertEquals(late.status, 403);
    assert(!late.page.includes(CANARY));
    assertEquals(pages.ask.asked.length, 0);
    await assertNothingSaved(database);
  },
);

providerTest("oversized or non-form bodies, and other methods, are refused", async ({ pages, household }) => {
  const { app, config } = pages;
  const { browser, billId } = household;
  const token = tokenOf(await (await browser.get(connectPath(billId))).text());
  const large = await browser.post(connectPath(billId), { form_token: token, credential_key: "k".repeat(17_000) });
  assertEquals(large.status, 413);
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const request = (method: string, path = connectPath(billId)) =>
    app.request(config.siteUrl + path, {
      method,
      headers: { cookie, "content-type": "application/json" },
      ...(method === "POST" && { body: JSON.stringify({ form_token: token, credential_key: CANARY }) }),
    });
  assertEquals((await request("POST")).status, 415);
  assertEquals((await request("PUT")).status, 405);
  assertEquals((await request("POST", "/account/providers/connected")).status, 405);
  assertEquals(pages.ask.asked.length, 0);
});

providerTest(
  "a person may try ten credentials an hour, since each try reveals its validity",
  async ({ pages, household }) => {
    pages.ask.answer = () => new Response(null, { status: 401 });
    const page = await (await household.browser.get(connectPath(household.billId))).text();
    const attempt = (key: string) => household.browser.submit(page, "credential_key", { credential_key: key });
    // A malformed credential reaches no provider and does not count as an attempt.
    for (let n = 0; n < 5; n++) assertEquals((await attempt("short")).status, 400);
    for (let n = 0; n < 10; n++) assertEquals((await attempt(`guess-number-${n}`)).status, 400);
    const limited = await read(attempt(CANARY));
    assertEquals(limited.status, 429);
    assertEquals(limited.headers.get("retry-after"), "360");
    assert(!limited.page.includes(CANARY));
    assertEquals(pages.ask.asked.length, 10);
    pages.clock.now = new Date(pages.clock.now.getTime() + 360_000);
    assertEquals((await attempt(CANARY)).status, 400);
    assertEquals(pages.ask.asked.length, 11);
  },
);

providerTest("a credential moved to another link's row cannot be opened there", async (given) => {
  const { pages, database, household } = given;
  await connected(household);
  const other = await openHousehold(pages, database, "other@example.com");
  await connected(other, { key: "another-key-4711" });
  const links = await linksOf(database);
  const [first, second] = [household, other].map(({ billId }) => links.find(({ bill }) => bill === billId)!);
  await database.query(
    `update app.provider_credentials set envelope = (select envelope from app.provider_credentials where link_id = $1) where link_id = $2`,
    [first!.id, second!.id],
  );
  const error = await assertRejects(() => storedCredential(given, second!.id), EnvelopeError);
  assertEquals(error.reason, "unreadable");
  assertEquals(await storedCredential(given, first!.id), { key: CANARY });
});
