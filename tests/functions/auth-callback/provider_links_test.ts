/** Bill providers on the account page: each connection's state, and pausing, resuming and removing it. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { addMember } from "../../_support/books.ts";
import { createCredentialStore } from "../../../shared/db/credential_store.ts";
import type { TestDatabase } from "../../_support/database.ts";
import { formsOf, over } from "./harness.ts";
import {
  addBill,
  CANARY,
  connected,
  eventsOf,
  type Given,
  type Household,
  linksOf,
  openHousehold,
  providerTest,
  tokenOf,
} from "./provider_harness.ts";

/** Runs the test on a household with one connected bill. */
function linkTest(name: string, run: (given: Given & { linkId: string }) => Promise<void>): void {
  providerTest(name, async (given) => {
    await connected(given.household);
    const [link] = await linksOf(given.database);
    await run({ ...given, linkId: link!.id });
  });
}

const accountOf = async ({ browser }: Household) => await (await browser.get("/account")).text();
/** The section about bill providers, as plain text. */
async function shown(household: Household): Promise<string> {
  const section = /<h2>Bill providers<\/h2>(.*?)<\/section>/s.exec(await accountOf(household))![1]!;
  return section.replaceAll(/<[^>]+>/g, " ").replaceAll("&amp;", "&").replaceAll(/\s+/g, " ");
}
const statusOf = async (database: TestDatabase) => (await linksOf(database)).map(({ status }) => status);
const removePath = (linkId: string) => `/account/providers/remove?link=${linkId}`;

linkTest("the account page lists providers and bills, but never credentials", async ({ household, database }) => {
  assertMatch(await shown(household), /Power Meter & Sons, Meter …tial : working/);
  assert(!(await accountOf(household)).includes(CANARY));
  await database.query("update app.provider_links set status = 'needs_reauth', last_success_period = '2026-09-01'");
  const words = await shown(household);
  assertStringIncludes(words, "Meter & Sons no longer accepts our key, so no amounts arrive. Connect it again.");
  assertStringIncludes(words, "last amount for September 2026");
  await database.query("update app.provider_links set provider_key = 'forgotten'");
  assertStringIncludes(await shown(household), "forgotten, Meter …tial");
});

linkTest("the account page connects variable bills without a provider", async ({ household, database }) => {
  const { organizationId } = household;
  await addBill(database, { organizationId, billId: "bill_000000000777", name: "Gas" });
  await addBill(database, { organizationId, billId: "bill_000000000778", name: "Rent", amountMode: "fixed" });
  await addBill(database, { organizationId, billId: "bill_000000000779", name: "Old", status: "cancelled" });
  assertStringIncludes(await accountOf(household), 'href="/account/providers/connect?bill=bill_000000000777"');
  assertMatch(await shown(household), /Gas Not connected/);
  assert(!/Rent|Old|Power Not/.test(await shown(household)));
  await database.query("update identity.organizations set plan = 'free'");
  assert(!(await shown(household)).includes("Gas"), "nothing to connect without the plan for it");
});

linkTest("a link is paused once and resumed once", async ({ household, database }) => {
  const paused = await household.browser.submit(await accountOf(household), "pause_link");
  assertEquals([paused.status, paused.headers.get("location")], [303, "/account?done=link_paused"]);
  const page = await accountOf(household);
  assertMatch(await shown(household), /: paused/);
  assertEquals(await statusOf(database), ["paused"]);
  assertEquals((await linksOf(database))[0]!.has_credential, true);
  assertEquals(
    (await household.browser.submit(page, "resume_link")).headers.get("location"),
    "/account?done=link_resumed",
  );
  // A repeated click has no further effect.
  assertEquals((await household.browser.submit(page, "resume_link")).status, 303);
  assertEquals(await statusOf(database), ["active"]);
  assertEquals(await eventsOf(database), ["provider.connected", "provider.paused", "provider.resumed"]);
});

linkTest("a link without a credential is not resumed as working", async ({ household, database }) => {
  await household.browser.submit(await accountOf(household), "pause_link");
  await database.query("delete from app.provider_credentials");
  await household.browser.submit(await accountOf(household), "resume_link");
  assertEquals(await statusOf(database), ["needs_reauth"]);
});

linkTest("removing asks once and removes the credential", async ({ household, database, linkId, pages }) => {
  const { page, status } = await household.browser.get(removePath(linkId)).then(async (response) => ({
    page: await response.text(),
    status: response.status,
  }));
  assertEquals(status, 200);
  assertStringIncludes(page, "is deleted here at once");
  assertEquals((await linksOf(database))[0]!.has_credential, true);
  const removed = await household.browser.submit(page, "Keep it");
  assertEquals([removed.status, removed.headers.get("location")], [303, "/account?done=link_removed"]);
  assertEquals((await linksOf(database)).map((link) => [link.status, link.has_credential]), [["revoked", false]]);
  assertEquals((await createCredentialStore(over(database)).readCredentials([linkId])).size, 0);
  assertEquals((await household.browser.submit(page, "Keep it")).status, 303);
  assertEquals(await eventsOf(database), ["provider.connected", "provider.removed"]);
  assertMatch(await shown(household), /Power Not connected/);
  // A removed connection can be neither resumed nor removed again.
  const resumed = await household.browser.post("/account", {
    form_token: tokenOf(page),
    action: "resume_link",
    link_id: linkId,
  });
  assertEquals(resumed.status, 400);
  assertEquals((await household.browser.get(removePath(linkId))).headers.get("location"), "/account");
  assertEquals(pages.ask.asked.length, 1);
});

linkTest(
  "members can only look, and owners of other organizations see nothing",
  async ({ pages, database, household, linkId }) => {
    const member = await openHousehold(pages, database, "member@example.com");
    await addMember(database, household.organizationId, member.userId, "member");
    await database.query("update app.provider_links set status = 'needs_reauth'");
    assertMatch(await shown(member), /Power Meter & Sons/);
    assertStringIncludes(await shown(member), "The owner has to connect it again.");
    assert(!(await accountOf(member)).includes(linkId), "no way to change it");
    const other = await openHousehold(pages, database, "other@example.com");
    assert(!(await accountOf(other)).includes("Home of mira@example.com"));
    for (const [person, refused] of [[member, 403], [other, 400]] as const) {
      const token = tokenOf(await accountOf(person));
      for (const action of ["pause_link", "resume_link"]) {
        const sent = await person.browser.post("/account", { form_token: token, action, link_id: linkId });
        assertEquals(sent.status, refused, action);
      }
      assertEquals((await person.browser.get(removePath(linkId))).headers.get("location"), "/account");
      assertEquals((await person.browser.post(removePath(linkId), { form_token: token })).status, refused);
    }
    assertEquals(await statusOf(database), ["needs_reauth"]);
    assertEquals((await linksOf(database))[0]!.has_credential, true);
  },
);

linkTest("forms without their token, or from elsewhere, change nothing", async ({ database, household, linkId }) => {
  const token = tokenOf(await accountOf(household));
  const change = { action: "pause_link", link_id: linkId };
  const { browser } = household;
  const crossSite = { "sec-fetch-site": "cross-site" };
  assertEquals((await browser.post("/account", change)).status, 403);
  assertEquals((await browser.post("/account", { ...change, form_token: token }, crossSite)).status, 403);
  assertEquals((await browser.post(removePath(linkId), {})).status, 403);
  assertEquals((await browser.post(removePath(linkId), { form_token: token }, crossSite)).status, 403);
  assertEquals((await browser.post("/account/providers/remove", { form_token: token })).status, 400);
  assertEquals(await statusOf(database), ["active"]);
});

linkTest("a link paused by the plan is resumed only by the plan", async ({ database, household, linkId }) => {
  const token = tokenOf(await accountOf(household));
  const send = (action: string) => household.browser.post("/account", { form_token: token, action, link_id: linkId });
  await database.query("update identity.organizations set plan = 'free', plan_status = 'canceled'");
  assertStringIncludes(await shown(household), "paused, needs the Team plan");
  const forms = formsOf(await accountOf(household)).filter(({ html }) => html.includes(linkId));
  assertEquals(forms, []);
  assertEquals((await send("resume_link")).status, 400);
  // If its owner also pauses it, it remains paused when the plan returns.
  assertEquals((await send("pause_link")).status, 303);
  await database.query("update identity.organizations set plan = 'team', plan_status = 'active'");
  assertEquals(await statusOf(database), ["paused"]);
  assertMatch(await shown(household), /: paused/);
});

linkTest("a bill that now has a fixed amount needs no key", async ({ database, household }) => {
  await database.query("update app.provider_links set status = 'needs_reauth'");
  assertStringIncludes(await shown(household), "no longer accepts our key");
  await database.query("update app.expenses set amount_mode = 'fixed', amount_minor = 500");
  const page = await shown(household);
  assertStringIncludes(page, "the bill has a fixed amount now, so nothing is fetched");
  assert(!page.includes("no longer accepts") && !page.includes("Connect again"), page);
});

linkTest(
  "an ended bill's connection stays visible until it is removed",
  async ({ database, household, linkId }) => {
    for (const ending of ["status = 'cancelled'", "status = 'active', deleted_at = now()"]) {
      await database.query(`update app.expenses set ${ending}`);
      assertStringIncludes(await shown(household), "the bill has ended, so nothing is fetched");
    }
    await household.browser.submit(await (await household.browser.get(removePath(linkId))).text(), "Keep it");
    assertEquals((await linksOf(database)).map((link) => [link.status, link.has_credential]), [["revoked", false]]);
  },
);

linkTest("during its organization's deletion a link is hidden and unchangeable", async (given) => {
  const { household, database, linkId } = given;
  const token = tokenOf(await accountOf(household));
  await database.query("update identity.organizations set deletes_at = '2026-12-04T10:00:00Z'");
  assert(!(await shown(household)).includes("Meter"));
  assert(!/(pause|resume)_link|providers\/(connect|remove)/.test(await accountOf(household)));
  for (
    const [path, fields] of [
      ["/account", { action: "pause_link", link_id: linkId }],
      ["/account", { action: "resume_link", link_id: linkId }],
      [removePath(linkId), {}],
    ] as const
  ) {
    const response = await household.browser.post(path, { form_token: token, ...fields });
    const page = await response.text();
    assertEquals([response.status, await statusOf(database)], [403, ["active"]], JSON.stringify(fields));
    assertStringIncludes(page, "will be deleted on");
    // The header is the same as on every page of a signed-in person.
    assertStringIncludes(page, 'action="/logout"');
  }
});
