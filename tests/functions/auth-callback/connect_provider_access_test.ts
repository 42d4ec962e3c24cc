/** Access to the credential page, by person and bill, and its fields. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { addMember } from "../../_support/books.ts";
import { formsOf, signIn } from "./harness.ts";
import {
  addBill,
  assertNothingSaved,
  CANARY,
  connectPath,
  openHousehold,
  providerTest,
  read,
  tokenOf,
} from "./provider_harness.ts";

providerTest("connect_url redirects signed-out people to the login and back", async ({ pages, household }) => {
  const response = await pages.browser().get(connectPath(household.billId));
  const login = new URL(response.headers.get("location")!, "https://expenses.example");
  assertEquals([response.status, login.pathname], [303, "/login"]);
  // The next mail may follow half a minute after the first.
  pages.clock.now = new Date(pages.clock.now.getTime() + 60_000);
  const { location } = await signIn(pages, "mira@example.com", login.searchParams.get("next")!);
  assertEquals(location, connectPath(household.billId));
});

providerTest(
  "submitting after the session ended leads back to the form after the login",
  async ({ pages, household }) => {
    const response = await pages.browser().post(connectPath(household.billId), { credential_key: CANARY });
    const location = response.headers.get("location")!;
    assertEquals(location, `/login?next=${encodeURIComponent(connectPath(household.billId))}`);
  },
);

providerTest(
  "the form has the adapter's fields, hides secrets, and is not cached",
  async ({ household }) => {
    const { status, page, headers } = await read(household.browser.get(connectPath(household.billId)));
    assertEquals([status, headers.get("cache-control")], [200, "no-store"]);
    const [account, key] = [...page.matchAll(/<input id="credential_[^>]*>/g)].map(([tag]) => tag);
    assertMatch(key!, /type="password"/);
    assertMatch(key!, / required/);
    assertMatch(account!, /type="text"/);
    assert(!account!.includes(" required"), "the account number may be left out");
    for (const input of [account!, key!]) {
      assertMatch(input, /autocomplete="off"/);
      assert(!input.includes("value="), input);
    }
    for (
      const words of [
        "Meter &amp; Sons",
        "Settings, Keys",
        "kept encrypted",
        "not your assistant",
        "Test and connect",
      ]
    ) {
      assertStringIncludes(page, words);
    }
  },
);

providerTest("members cannot connect a bill, but see who can", async ({ pages, database, household }) => {
  const member = await openHousehold(pages, database, "member@example.com");
  const token = tokenOf(await (await member.browser.get(connectPath(member.billId))).text());
  await addMember(database, household.organizationId, member.userId, "member");
  const { status, page } = await read(member.browser.get(connectPath(household.billId)));
  assertEquals(status, 403);
  assertStringIncludes(page, "Only the owner can connect a bill");
  assertStringIncludes(page, "mira@example.com");
  const sent = await member.browser.post(connectPath(household.billId), { form_token: token, credential_key: CANARY });
  assertEquals(sent.status, 403);
  assertEquals(pages.ask.asked.length, 0);
  await assertNothingSaved(database);
});

providerTest(
  "other people's bills, deleted bills and invalid ids get the same response",
  async ({ pages, database, household }) => {
    const other = await openHousehold(pages, database, "other@example.com");
    const token = tokenOf(await (await household.browser.get(connectPath(household.billId))).text());
    await addBill(database, { organizationId: household.organizationId, billId: "bill_deleted00001" });
    await database.query("update app.expenses set deleted_at = now() where id = 'bill_deleted00001'");
    const pagesShown = new Set<string>();
    for (
      const bill of [
        other.billId,
        "bill_000000000099",
        "bill_deleted00001",
        "",
        "x'y",
        "exp_000000000001",
        "bill_%00%00%00%00%00%00%00%00",
      ]
    ) {
      const shown = await read(household.browser.get(connectPath(bill)));
      assertEquals(shown.status, 404, bill);
      pagesShown.add(shown.page.replaceAll(/nonce="[^"]*"|<code>[^<]*<\/code>/g, ""));
      const sent = await household.browser.post(connectPath(bill), { form_token: token, credential_key: CANARY });
      assertEquals(sent.status, 404, bill);
      assertEquals(
        (await household.browser.get(`/account/providers/connected?bill=${bill}`)).headers.get("location"),
        "/account",
      );
    }
    assertEquals(pagesShown.size, 1);
    assertStringIncludes([...pagesShown][0]!, "We don’t know that bill");
    assertEquals(pages.ask.asked.length, 0);
    await assertNothingSaved(database);
  },
);

providerTest(
  "bills that have ended or have a fixed amount cannot be connected",
  async ({ pages, database, household }) => {
    const { organizationId } = household;
    await addBill(database, { organizationId, billId: "bill_ended0000001", status: "ended" });
    await addBill(database, { organizationId, billId: "bill_cancelled001", status: "cancelled" });
    await addBill(database, { organizationId, billId: "bill_fixed0000001", amountMode: "fixed" });
    await addBill(database, { organizationId, billId: "bill_paused000001", status: "paused" });
    const token = tokenOf(await (await household.browser.get(connectPath(household.billId))).text());
    for (
      const [bill, words] of [
        ["bill_ended0000001", "This bill has ended"],
        ["bill_cancelled001", "This bill has ended"],
        ["bill_fixed0000001", "This bill has a fixed amount"],
      ] as const
    ) {
      const { status, page } = await read(household.browser.get(connectPath(bill)));
      assertEquals(status, 409);
      assertStringIncludes(page, words);
      const sent = await household.browser.post(connectPath(bill), { form_token: token, credential_key: CANARY });
      assertEquals(sent.status, 409);
    }
    assertEquals(pages.ask.asked.length, 0);
    assertEquals((await household.browser.get(connectPath("bill_paused000001"))).status, 200);
  },
);

providerTest(
  "a plan without provider amounts is explained, with a link to the plan's page",
  async ({ pages, database, household }) => {
    const token = tokenOf(await (await household.browser.get(connectPath(household.billId))).text());
    await database.query("update identity.organizations set plan = 'pro'");
    const { status, page } = await read(household.browser.get(connectPath(household.billId)));
    assertEquals(status, 403);
    assertStringIncludes(page, "The plan doesn’t include this");
    assertStringIncludes(page, `/organizations/${household.organizationId}/plan"`);
    const sent = await household.browser.post(connectPath(household.billId), {
      form_token: token,
      credential_key: CANARY,
    });
    assertEquals(sent.status, 403);
    assertEquals(pages.ask.asked.length, 0);
    await assertNothingSaved(database);
  },
);

providerTest(
  "an organization that is being deleted connects nothing and names the person who can stop that",
  async ({ pages, database, household }) => {
    const path = connectPath(household.billId);
    const member = await openHousehold(pages, database, "member@example.com");
    await addMember(database, household.organizationId, member.userId, "member");
    const tokens = [
      tokenOf(await (await household.browser.get(path)).text()),
      tokenOf(await (await member.browser.get(connectPath(member.billId))).text()),
    ];
    await database.query("update identity.organizations set deletes_at = '2026-12-04T10:00:00Z' where id = $1", [
      household.organizationId,
    ]);
    for (const [n, { browser }] of [household, member].entries()) {
      const answers = [
        await read(browser.get(path)),
        await read(browser.get(connectPath(household.billId, ""))),
        await read(browser.post(path, { form_token: tokens[n]!, credential_key: CANARY })),
      ];
      for (const { status, page } of answers) {
        assertEquals(status, 403);
        const text = page.replaceAll(/<[^>]+>/g, "");
        assertStringIncludes(text, "will be deleted on 4 December 2026. Until then");
        assertStringIncludes(text, n ? "Only its owner, mira@example.com, can stop that." : "Keep it after all");
        assert(!page.includes("credential_key"));
      }
    }
    assertEquals(pages.ask.asked.length, 0);
    await assertNothingSaved(database);
  },
);

// Choosing a provider

providerTest("without a provider, or with an unknown one, the page asks for one", async ({ household }) => {
  const { browser, billId } = household;
  const chooser = await read(browser.get(connectPath(billId, "")));
  assertEquals(chooser.status, 200);
  assertStringIncludes(chooser.page, "Choose the provider of");
  for (const key of ["meter", "waterworks"]) {
    assertStringIncludes(chooser.page, `href="${connectPath(billId, key).replace("&", "&amp;")}"`);
  }
  const hostile = await read(browser.get(connectPath(billId, encodeURIComponent("<script>alert(1)</script>"))));
  assertStringIncludes(hostile.page, "&lt;script&gt;alert(1)&lt;/script&gt;");
  const token = tokenOf(await (await browser.get(connectPath(billId))).text());
  const sent = await browser.post(connectPath(billId, "nobody"), { form_token: token, credential_key: CANARY });
  assertEquals(sent.status, 400);
});

providerTest("a provider can be chosen by the name that people tell their assistant", async ({ household }) => {
  for (const name of ["Meter & Sons", "meter%20sons", "METER", "Water-Works"]) {
    const path = connectPath(household.billId, encodeURIComponent(decodeURIComponent(name)));
    assertStringIncludes(await (await household.browser.get(path)).text(), "credential_key", name);
  }
});

providerTest("the page has no other form, besides signing out", async ({ household }) => {
  const page = await (await household.browser.get(connectPath(household.billId))).text();
  assertEquals(formsOf(page).map(({ action }) => action), ["/logout", connectPath(household.billId)]);
});
