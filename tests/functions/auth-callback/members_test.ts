/** The pages of members, invitations, hand-over and further organizations, from the mail to the membership. */
import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import type { TestDatabase } from "../../_support/database.ts";
import { type Browser, formsOf, NOW, type Pages } from "./harness.ts";
import { accountTest, auditOf, newPerson, onboarded } from "./account_harness.ts";

const ANNA = "anna@example.com";
const BEN = "ben@example.com";

interface Home {
  anna: { id: string; browser: Browser };
  path: string;
  /** Invites with the form; returns the redirect target. */
  invite(address: string, role?: string): Promise<Response>;
  /** The path of the link in the newest mail. */
  link(): string;
}

async function home(pages: Pages, database: TestDatabase, name = "Garden Street"): Promise<Home> {
  const anna = await onboarded(pages, database, ANNA, { organization_name: name });
  const path = `/organizations/${anna.organizationId}/members`;
  return {
    anna,
    path,
    async invite(address, role = "member") {
      const page = await (await anna.browser.get(path)).text();
      return await anna.browser.submit(page, 'value="invite"', { address, role });
    },
    link: () => {
      const [, url] = /https:\/\/expenses\.example(\/invitation\?t=\S+)/.exec(pages.mails.at(-1)!.text)!;
      return url!;
    },
  };
}

const textOf = async (response: Response) => await response.text();
const roleOf = async (database: TestDatabase, userId: string) =>
  (await database.query<{ role: string }>(
    "select m.role from identity.memberships as m join identity.organizations as o on o.id = m.organization_id where m.user_id = $1 and o.owner_id <> $1",
    [userId],
  ))[0]?.role;

accountTest(
  "an invitation is mailed as plain text, and accepted by a form, not by opening the link",
  async (pages, database) => {
    const { invite, link, path } = await home(pages, database);
    const response = await invite("Ben@Example.com", "viewer");
    assertEquals([response.status, response.headers.get("location")], [303, `${path}?done=invited`]);
    const { to, subject, text } = pages.mails[0]!;
    assertEquals([to, subject], [BEN, "anna@example.com invited you to “Garden Street” in Expenses"]);
    assertEquals(
      text.replace(/https:\S+/, "<link>"),
      `anna@example.com has invited you to join “Garden Street” in Expenses as a viewer. You can see the expenses and bills there and export them, but change nothing.

Read more and accept:
<link>

The link works for 7 days, once, and only for ben@example.com.

The name “Garden Street” was chosen by its members.

Don’t know anna@example.com? Ignore this email, and nothing happens.
`,
    );
    const { html } = pages.mails[0]!;
    assertStringIncludes(html, `href="https://expenses.example${link()}"`);
    assertStringIncludes(html, ">Read more and accept</a>");
    const token = new URLSearchParams(link().split("?")[1]).get("t")!;
    const stored = JSON.stringify(await database.query("select * from identity.invitations"));
    assertFalse(stored.includes(token));

    const ben = await onboarded(pages, database, BEN);
    for (let n = 0; n < 2; n++) {
      const page = await textOf(await ben.browser.get(link()));
      assertStringIncludes(page, "Garden Street");
      assertStringIncludes(page, ANNA);
      assertEquals(await roleOf(database, ben.id), undefined, "reading changes nothing");
    }
    const page = await textOf(await ben.browser.get(link()));
    const presses = await Promise.all([1, 2, 3].map(() => ben.browser.submit(page, "Accept")));
    const books = `/books?organization=${path.split("/")[2]}&news=joined`;
    assertEquals(presses.map((press) => press.headers.get("location")), Array(3).fill(books));
    assertEquals(await roleOf(database, ben.id), "viewer");
    assertEquals((await ben.browser.get(link())).headers.get("location"), path);
    const events = await auditOf(database);
    assertEquals(events.filter((event) => event.startsWith("member.")), ["member.invited", "member.joined"]);
    const details = JSON.stringify(await database.query("select detail from identity.audit_events"));
    assertFalse(details.includes("@"), "no address in the audit trail");
  },
);

accountTest(
  "an invited person without an account joins with one mail and one form, without their own organization",
  async (pages, database) => {
    const { invite, link, path } = await home(pages, database);
    await invite(BEN);
    const browser = pages.browser();
    const page = await textOf(await browser.get(link()));
    for (const shown of [ANNA, "Garden Street", BEN]) assertStringIncludes(page, shown);
    assertFalse(/name="(organization_name|base_currency|email)"/.test(page));
    const { id } = pages.provider.user(BEN);
    await database.query("insert into auth.users (id, email) values ($1, $2)", [id, BEN]);
    const bad = await browser.submit(page, 'name="country"', { country: "XX", timezone: "Europe/Berlin" });
    assertEquals(bad.status, 400);
    assertEquals(pages.provider.confirmed.has(BEN), false, "a mistake makes no account");
    const accepted = await browser.submit(page, 'name="country"', { country: "DE", timezone: "Europe/Berlin" });
    const books = `/books?organization=${path.split("/")[2]}&news=joined`;
    assertEquals(accepted.headers.get("location"), books);
    assertStringIncludes(await textOf(await browser.get(books)), "You’re in.");
    assertEquals([pages.mails.length, pages.provider.mails.length], [1, 0]);
    assertEquals(await roleOf(database, id), "member");
    const owned = await database.query("select from identity.organizations where owner_id = $1", [id]);
    assertEquals(owned.length, 0);
    // Their own organization, created later, still gets the unused trial.
    const created = await browser.submit(
      await textOf(await browser.get("/organizations/new?next=%2Fx")),
      'name="name"',
      {
        name: "Ben’s workshop",
      },
    );
    assertEquals(created.headers.get("location"), "/x");
    const [own] = await database.query(
      "select trial_ends_at is not null as trial from identity.organizations where owner_id = $1",
      [
        id,
      ],
    );
    assertEquals(own, { trial: true });
  },
);

accountTest(
  "an invitation's link signs in no existing account, and mails it a sign-in link",
  async (pages, database) => {
    const { invite, link } = await home(pages, database);
    await invite(BEN);
    const unsaid = pages.browser();
    const before = await textOf(await unsaid.get(link()));
    const ben = await onboarded(pages, database, BEN);
    pages.provider.mails.length = 0;
    pages.clock.now = new Date(NOW.getTime() + 60_000);
    const browser = pages.browser();
    const page = await textOf(await browser.get(link()));
    assertFalse(page.includes('name="country"'));
    const asked = await browser.submit(page, 'name="email"');
    assertEquals(asked.headers.get("location"), `/login?sent=1&next=${encodeURIComponent(link())}`);
    assertEquals(pages.provider.mails.map(({ email }) => email), [BEN]);
    // The form of a page that was opened before.
    const press = await unsaid.submit(before, 'name="country"', { country: "DE", timezone: "Europe/Berlin" });
    assertEquals(press.headers.get("location"), link());
    // An account before onboarding also counts.
    await database.query("update identity.profiles set country = null where user_id = $1", [ben.id]);
    const late = await unsaid.submit(before, 'name="country"', { country: "DE", timezone: "Europe/Berlin" });
    assertStringIncludes(await textOf(late), "You already have an account as");
    assertEquals(await roleOf(database, ben.id), undefined);
    assertEquals((await unsaid.get("/account")).headers.get("location"), "/login?next=%2Faccount");
  },
);

accountTest(
  "a forwarded link shows others only the beginning of the address, with a way to sign in again",
  async (pages, database) => {
    const { invite, link } = await home(pages, database);
    await invite(BEN);
    const mallory = await onboarded(pages, database, "mallory@example.com");
    const response = await mallory.browser.get(link());
    const page = await textOf(response);
    assertEquals(response.status, 403);
    assertStringIncludes(page, "b…@e….com");
    for (const secret of [BEN, ANNA, "Garden Street"]) assertFalse(page.includes(secret), secret);
    const forced = await mallory.browser.submit(await textOf(await mallory.browser.get("/account")), 'value="country"');
    assertEquals(forced.status, 303);
    const { fields } = formsOf(await textOf(await mallory.browser.get("/account"))).find(({ html }) =>
      html.includes("form_token")
    )!;
    await mallory.browser.post(link(), { form_token: fields.form_token! });
    assertEquals(await roleOf(database, mallory.id), undefined);
    const out = await mallory.browser.submit(page, 'name="next"');
    assertEquals(out.headers.get("location"), `/login?next=${encodeURIComponent(link())}`);
    // An accepted invitation grants no further access.
    await database.query("update identity.invitations set accepted_at = now()");
    assertEquals((await pages.browser().get(link())).status, 403);
  },
);

accountTest("names of organizations cannot look like our words or a link in the mail", async (pages, database) => {
  const { invite } = await home(pages, database, "Home”. Sign in at https://evil.example/now to keep your account");
  await invite(BEN);
  const { text, subject } = pages.mails[0]!;
  assertFalse(/evil\.example|https:\/\/(?!expenses\.example)/.test(text + subject), text);
  assertEquals(text.match(/”/g)?.length, 2, text);
});

accountTest(
  "the members page refuses missing rights, other people's forms and foreign organizations",
  async (pages, database) => {
    const { anna, path, invite, link } = await home(pages, database);
    await invite(BEN, "viewer");
    const ben = await onboarded(pages, database, BEN);
    await ben.browser.submit(await textOf(await ben.browser.get(link())), "Accept");
    const page = await textOf(await ben.browser.get(path));
    assertEquals(formsOf(page).filter(({ action }) => action !== "/logout"), []);
    const token = formsOf(await textOf(await ben.browser.get("/account"))).find(({ fields }) => fields.form_token)!
      .fields
      .form_token!;
    const post = async (browser: Browser, to: string, fields: Record<string, string>) =>
      (await browser.post(to, { form_token: token, ...fields })).status;
    assertEquals(
      [
        await post(ben.browser, path, { action: "invite", address: "x@example.com", role: "member" }),
        await post(ben.browser, path, { action: "role", member_id: anna.id, role: "viewer" }),
        await post(ben.browser, path, { action: "open_private", member_id: ben.id }),
        await post(ben.browser, `${path}/remove?member=${anna.id}`, {}),
        await post(ben.browser, path.replace("members", "hand-over"), { member_id: ben.id }),
        await post(ben.browser, path, { action: "unknown" }),
        await post(anna.browser, path, { action: "invite", address: "x@example.com", role: "member" }),
      ],
      [403, 404, 404, 404, 404, 400, 403],
    );
    const stranger = await onboarded(pages, database, "mallory@example.com");
    for (
      const to of [
        path,
        `${path}/remove?member=${ben.id}`,
        path.replace("members", "hand-over"),
        "/organizations/x/members",
      ]
    ) {
      assertEquals((await stranger.browser.get(to)).status, 404, to);
    }
    assertEquals(pages.mails.length, 1);
  },
);

accountTest(
  "invitations are resent and withdrawn, roles changed, members removed, each by its form",
  async (pages, database) => {
    const { anna, path, invite, link } = await home(pages, database);
    await invite(BEN);
    const first = link();
    const page = () => anna.browser.get(path).then(textOf);
    await anna.browser.submit(await page(), 'value="resend"');
    const second = link();
    assert(first !== second);
    const ben = await onboarded(pages, database, BEN);
    assertEquals((await ben.browser.get(first)).status, 404);
    await ben.browser.submit(await textOf(await ben.browser.get(second)), "Accept");
    await anna.browser.submit(await page(), 'value="role"', { role: "viewer" });
    assertEquals(await roleOf(database, ben.id), "viewer");
    assertStringIncludes(await page(), "Show private categories");
    await anna.browser.submit(await page(), 'value="open_private"');
    assertStringIncludes(await page(), "sees private categories");
    const leaving = await textOf(await ben.browser.get(`${path}/remove?member=${ben.id}`));
    assertStringIncludes(leaving, "Leave");
    const question = await textOf(await anna.browser.get(`${path}/remove?member=${ben.id}`));
    assertStringIncludes(question, "What ends");
    const removed = await anna.browser.submit(question, "danger");
    assertEquals(removed.headers.get("location"), `${path}?done=removed`);
    assertEquals((await ben.browser.submit(leaving, "danger")).status, 404, "they are gone already");
    await invite("other@example.com");
    await anna.browser.submit(await page(), 'value="withdraw"');
    const other = await onboarded(pages, database, "other@example.com");
    assertEquals((await other.browser.get(link())).status, 403);
  },
);

accountTest("the owner asks a member to take over, and the member confirms on their page", async (pages, database) => {
  const { anna, path, invite, link } = await home(pages, database);
  await invite(BEN);
  const ben = await onboarded(pages, database, BEN);
  await ben.browser.submit(await textOf(await ben.browser.get(link())), "Accept");
  const asking = path.replace("members", "hand-over");
  const asked = await anna.browser.submit(await textOf(await anna.browser.get(asking)), "member_id", {
    member_id: ben.id,
  });
  assertEquals(asked.headers.get("location"), `${path}?done=proposed`);
  assertEquals(pages.mails.at(-1)!.to, BEN);
  assertStringIncludes(pages.mails.at(-1)!.text, `https://expenses.example${path}`);
  const page = await textOf(await ben.browser.get(path));
  const accepted = await ben.browser.submit(page, 'value="accept_handover"');
  assertEquals(accepted.headers.get("location"), `${path}?done=handed_over`);
  assertEquals((await ben.browser.submit(page, 'value="accept_handover"')).status, 404, "once");
  const roles = await database.query(
    "select user_id, role from identity.memberships where organization_id = $1 order by role",
    [
      path.split("/")[2],
    ],
  );
  assertEquals(roles, [{ user_id: anna.id, role: "manager" }, { user_id: ben.id, role: "owner" }]);
});

accountTest(
  "mails of invitations are limited by person and by address, before anything changes",
  async (pages, database) => {
    const { invite } = await home(pages, database);
    for (let n = 0; n < 5; n++) assertEquals((await invite(BEN)).status, 303);
    assertEquals((await invite(BEN)).status, 429);
    assertEquals(pages.mails.length, 5);
    const last = /t=(\S+)/.exec(pages.mails.at(-1)!.text)![1]!;
    const { browser } = await newPerson(pages, database, BEN);
    assertStringIncludes(await textOf(await browser.get(`/invitation?t=${last}`)), 'name="country"');
  },
);

accountTest("inviting needs the Team plan, and the page names it", async (pages, database) => {
  const { anna, path } = await home(pages, database);
  const page = await textOf(await anna.browser.get(path));
  await database.query("update identity.organizations set trial_ends_at = null");
  const refused = await anna.browser.submit(page, 'value="invite"', { address: BEN });
  assertEquals(refused.status, 400);
  const now = await textOf(await anna.browser.get(path));
  assertStringIncludes(now, "needs the Team plan");
  assertFalse(now.includes('value="invite"'));
  assertEquals(pages.mails.length, 0);
});
