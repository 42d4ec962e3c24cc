/**
 * The page where a credential is entered: who may open it, what is checked, what is stored, and that the credential
 * never comes back.
 */
import { assert, assertEquals, assertMatch, assertNotEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { EnvelopeError, openCredential } from "../../../shared/credentials/envelope.ts";
import { createCredentialStore } from "../../../shared/db/credential_store.ts";
import type { TestDatabase } from "../../_support/database.ts";
import { formsOf, over, signIn } from "./harness.ts";
import {
  addBill,
  addMember,
  CANARY,
  connect,
  connected,
  connectPath,
  eventsOf,
  type Given,
  linksOf,
  openHousehold,
  providerTest,
  tokenOf,
} from "./provider_harness.ts";

const read = async (response: Promise<Response>) => {
  const answered = await response;
  return { status: answered.status, page: await answered.text(), headers: answered.headers };
};

/** The decrypted credential that the store holds for a link. */
async function storedCredential({ pages, database }: Given, linkId: string) {
  const envelopes = await createCredentialStore(over(database)).readCredentials([linkId]);
  return (await openCredential(pages.config.credentialsKeys, linkId, envelopes.get(linkId))).credential;
}

async function assertNothingSaved(database: TestDatabase): Promise<void> {
  assertEquals(await linksOf(database), []);
  assertEquals(await eventsOf(database), []);
}

// Access to the form

providerTest("connect_url leads signed-out people to the login and back", async ({ pages, household }) => {
  const response = await pages.browser().get(connectPath(household.billId));
  const login = new URL(response.headers.get("location")!, "https://expenses.example");
  assertEquals([response.status, login.pathname], [303, "/login"]);
  // The next mail may go out half a minute after the first.
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
        "Try it and connect",
      ]
    ) {
      assertStringIncludes(page, words);
    }
  },
);

providerTest("members see who can connect a bill, but cannot", async ({ pages, database, household }) => {
  const member = await openHousehold(pages, database, "member@example.com");
  const token = tokenOf(await (await member.browser.get(connectPath(member.billId))).text());
  await addMember(database, { ...household, userId: member.userId, role: "member" });
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
  "bills of others, deleted ones and nonsense are equally unknown",
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
        ["bill_fixed0000001", "This bill is the same every time"],
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
  "a plan without it says so, and links the other plans",
  async ({ pages, database, household }) => {
    const token = tokenOf(await (await household.browser.get(connectPath(household.billId))).text());
    await database.query("update identity.organizations set plan = 'pro'");
    const { status, page } = await read(household.browser.get(connectPath(household.billId)));
    assertEquals(status, 403);
    assertStringIncludes(page, "The plan doesn’t include this");
    assertStringIncludes(page, `https://pay.example/plans?organization_id=${household.organizationId}`);
    const sent = await household.browser.post(connectPath(household.billId), {
      form_token: token,
      credential_key: CANARY,
    });
    assertEquals(sent.status, 403);
    assertEquals(pages.ask.asked.length, 0);
    await assertNothingSaved(database);
  },
  { pricingUrl: "https://pay.example/plans" },
);

// Choosing a provider

providerTest("without a provider, or with an unknown one, the page asks for one", async ({ household }) => {
  const { browser, billId } = household;
  const chooser = await read(browser.get(connectPath(billId, "")));
  assertEquals(chooser.status, 200);
  assertStringIncludes(chooser.page, "Who sends the bill");
  for (const key of ["meter", "waterworks"]) {
    assertStringIncludes(chooser.page, `href="${connectPath(billId, key).replace("&", "&amp;")}"`);
  }
  const hostile = await read(browser.get(connectPath(billId, encodeURIComponent("<script>alert(1)</script>"))));
  assertStringIncludes(hostile.page, "&lt;script&gt;alert(1)&lt;/script&gt;");
  const token = tokenOf(await (await browser.get(connectPath(billId))).text());
  const sent = await browser.post(connectPath(billId, "nobody"), { form_token: token, credential_key: CANARY });
  assertEquals(sent.status, 400);
});

providerTest("a provider may be given by name, as people say it to their assistant", async ({ household }) => {
  for (const name of ["Meter & Sons", "meter%20sons", "METER", "Water-Works"]) {
    const path = connectPath(household.billId, encodeURIComponent(decodeURIComponent(name)));
    assertStringIncludes(await (await household.browser.get(path)).text(), "credential_key", name);
  }
});

// Checking and storing the credential

providerTest("a credential that the provider accepts is stored, sealed for its link", async (given) => {
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
  "a provider that has no amount yet has accepted the credential",
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

/** How providers refuse and fail, each echoing the credential as often as it can. */
const FAILURES: Record<
  string,
  { answer: (request: Request) => Response | Promise<Response>; status: number; words: RegExp }
> = {
  "refuses it": {
    answer: () => new Response(`no such key: ${CANARY}`, { status: 401, statusText: CANARY }),
    status: 400,
    words: /Meter &amp; Sons doesn’t accept it\. It may be mistyped or expired/,
  },
  "does not let it read this": {
    answer: () => Response.json({ message: CANARY }, { status: 403 }),
    status: 400,
    words: /may not be allowed to read what was charged/,
  },
  "was asked too often": {
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
  "answers a page": {
    answer: () => new Response(`<html>${CANARY}</html>`, { headers: { "content-type": "text/html" } }),
    status: 503,
    words: /We don’t understand the response from Meter &amp; Sons/,
  },
  "leaves the amount out": {
    answer: () => Response.json({ error: CANARY }),
    status: 503,
    words: /We don’t understand the response from Meter &amp; Sons/,
  },
  "is read by an adapter that has a fault": {
    answer: () => Response.json({ amount: "defect" }),
    status: 503,
    words: /Something went wrong on our side/,
  },
  "sends us elsewhere": {
    answer: () => new Response(null, { status: 302, headers: { location: `https://evil.example/?${CANARY}` } }),
    status: 503,
    words: /We don’t understand the response from Meter &amp; Sons/,
  },
};

for (const [what, { answer, status, words }] of Object.entries(FAILURES)) {
  providerTest(
    `nothing is saved, and nothing repeated, when the provider ${what}`,
    async ({ pages, database, household }) => {
      pages.ask.answer = answer;
      const refused = await read(connect(household));
      assertEquals(refused.status, status);
      assertMatch(refused.page, words);
      assertStringIncludes(refused.page, "Nothing was saved");
      assert(!refused.page.includes(CANARY) && !JSON.stringify([...refused.headers]).includes(CANARY));
      if (status === 400) assertMatch(refused.page, /<input id="credential_key"[^>]*aria-invalid="true"/);
      await assertNothingSaved(database);
      // The same page accepts it once the provider does.
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

// Reconnecting, and other people

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
  assertEquals(await eventsOf(database), ["provider.connected", "provider.reconnected"]);
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
    `two tabs at once, and a form sent twice, to ${what}: one link, whose credential opens`,
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
  "a request overtaken between checking and storing reseals for the current link",
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

// Rejected requests

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
  "a person may try ten credentials an hour, since each try tells whether it is valid",
  async ({ pages, household }) => {
    pages.ask.answer = () => new Response(null, { status: 401 });
    const page = await (await household.browser.get(connectPath(household.billId))).text();
    const attempt = (key: string) => household.browser.submit(page, "credential_key", { credential_key: key });
    // A malformed credential is not sent to anyone and does not count as an attempt.
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

// At rest

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

providerTest("the page has no other form, besides signing out", async ({ household }) => {
  const page = await (await household.browser.get(connectPath(household.billId))).text();
  assertEquals(formsOf(page).map(({ action }) => action), ["/logout", connectPath(household.billId)]);
});
