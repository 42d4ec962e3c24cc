/** Connecting a bill again, to the same provider or another one, even from two tabs at once. */
import { assertEquals, assertMatch, assertNotEquals, assertStringIncludes } from "@std/assert";
import {
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

providerTest("reconnecting keeps the link, and resets the old credential's state", async (given) => {
  const { database, household } = given;
  await connected(household);
  const [before] = await linksOf(database);
  await database.query(
    `update app.provider_links set status = 'needs_reauth', last_error_code = 'auth', consecutive_failures = 3, last_success_period = '2026-09-01',
       asked_at = now(), ask_after = now() + interval '1 day', lease_token = gen_random_uuid(), leased_until = now() + interval '1 minute'`,
  );
  const { page } = await read(household.browser.get(connectPath(household.billId)));
  assertStringIncludes(page, "no longer accepts the key we have");
  await connected(household, { key: "another-key-4711" });
  const links = await linksOf(database);
  assertEquals(links.map(({ id, status, account_label }) => [id, status, account_label]), [[
    before!.id,
    "active",
    "Meter …4711",
  ]]);
  assertEquals(await storedCredential(given, before!.id), { key: "another-key-4711" });
  assertEquals(
    await database.query(
      "select last_error_code, consecutive_failures, last_success_period, asked_at, ask_after, lease_token from app.provider_links",
    ),
    [{
      last_error_code: null,
      consecutive_failures: 0,
      last_success_period: "2026-09-01",
      asked_at: null,
      ask_after: null,
      lease_token: null,
    }],
  );
  assertEquals(await eventsOf(database), ["provider.connected", "provider.refused", "provider.reconnected"]);
});

providerTest("a refused credential keeps the existing one", async (given) => {
  const { pages, database, household } = given;
  await connected(household);
  const [link] = await linksOf(database);
  pages.ask.answer = () => new Response(null, { status: 401 });
  assertEquals((await connect(household, { key: "another-key-4711" })).status, 400);
  assertEquals(await linksOf(database), [link!]);
  assertEquals(await storedCredential(given, link!.id), { key: CANARY });
});

providerTest("another provider replaces the first, whose credential is removed", async (given) => {
  const { database, household } = given;
  await connected(household);
  const { page } = await read(household.browser.get(connectPath(household.billId, "waterworks")));
  assertStringIncludes(page, "This bill is connected to Meter &amp; Sons");
  await connected(household, { provider: "waterworks", key: "another-key-4711" });
  const [first, second] = await linksOf(database);
  assertEquals([first!.provider_key, first!.status, first!.has_credential], ["meter", "revoked", false]);
  assertEquals([second!.provider_key, second!.status, second!.has_credential], ["waterworks", "active", true]);
  assertNotEquals(first!.id, second!.id);
  const detail = await database.query<{ detail: unknown }>(
    "select detail from identity.audit_events order by id desc limit 1",
  );
  assertEquals(detail, [{
    detail: { link: second!.id, bill: household.billId, provider: "waterworks", replaced: first!.id },
  }]);
});

providerTest("a removed connection is recreated under another id", async (given) => {
  const { database, household } = given;
  await connected(household);
  await database.query("update app.provider_links set status = 'revoked'");
  await connected(household);
  const links = await linksOf(database);
  assertEquals(links.map(({ status, has_credential }) => [status, has_credential]), [["revoked", false], [
    "active",
    true,
  ]]);
});

for (
  const [what, providers] of [["one provider", ["meter", "meter"]], ["two providers", ["meter", "waterworks"]]] as const
) {
  providerTest(
    `two tabs at once, and a form sent twice, to ${what}: one link with a readable credential`,
    async (given) => {
      const { database, household } = given;
      const tabs = await Promise.all(
        providers.map(async (provider) =>
          await (await household.browser.get(connectPath(household.billId, provider))).text()
        ),
      );
      const presses = await Promise.all(
        [...tabs, ...tabs].map((page, n) =>
          household.browser.submit(page, "credential_key", { credential_key: `key-of-tab-${n}` })
        ),
      );
      assertEquals(presses.map(({ status }) => status), [303, 303, 303, 303]);
      const links = await linksOf(database);
      const live = links.filter(({ status }) => status !== "revoked");
      assertEquals(live.map(({ status, has_credential }) => [status, has_credential]), [["active", true]]);
      assertEquals(links.filter(({ has_credential }) => has_credential).length, 1);
      assertMatch((await storedCredential(given, live[0]!.id)).key!, /^key-of-tab-\d$/);
    },
  );
}

providerTest(
  "a request overtaken between checking and storing encrypts for the current link",
  async (given) => {
    const { pages, database, household } = given;
    const page = await (await household.browser.get(connectPath(household.billId))).text();
    pages.ask.answer = async () => {
      pages.ask.answer = () => Response.json({ amount: "1" });
      await household.browser.submit(page, "credential_key", { credential_key: "the-faster-key" });
      return Response.json({ amount: "1" });
    };
    await connected(household);
    const links = await linksOf(database);
    assertEquals(links.length, 1);
    assertEquals(await storedCredential(given, links[0]!.id), { key: CANARY });
  },
);
