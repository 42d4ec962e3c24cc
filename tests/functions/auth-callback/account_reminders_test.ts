/** The reminder address: changed at the identity provider, confirmed by its link, or changed on the page. */
import { addMember } from "../../_support/books.ts";
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { formsOf, NOW, signIn } from "./harness.ts";
import { accountTest, auditOf, onboarded } from "./account_harness.ts";

accountTest(
  "an address changed at the identity provider is updated at the next sign-in",
  async (pages, database) => {
    const { id } = await onboarded(pages, database);
    const reminders = async () =>
      (await database.query<{ address: string; refused: string | null }>(
        "select identity.reminder_address(p) as address, p.refused_email as refused from identity.profiles as p where p.user_id = $1",
        [id],
      ))[0]!;
    const set = (changes: string) => database.query(`update identity.profiles set ${changes} where user_id = $1`, [id]);
    /** Signs in with a different address, as the same person. */
    const signInAs = async (email: string) => {
      const user = [...pages.provider.users.values()][0]!;
      pages.provider.users.clear();
      pages.provider.users.set(email, { ...user, id, email });
      pages.clock.now = new Date(pages.clock.now.getTime() + 3600_000);
      return (await signIn(pages, email)).browser;
    };
    const changes = async () => (await auditOf(database)).filter((event) => event === "account.address_changed").length;

    await signInAs("mira@example.com");
    assertEquals(await changes(), 0);

    // The refused mails went to the old address.
    await set("refused_email = 'mira@example.com', refused_at = now()");
    const browser = await signInAs("mira@new.example");
    assertEquals([await reminders(), await changes()], [{ address: "mira@new.example", refused: null }, 1]);
    assertStringIncludes(await (await browser.get("/account")).text(), "<bdi>mira@new.example</bdi>");

    // A separate reminder address remains in use, and remains refused.
    await set(
      "reminder_email = 'bills@x.example', reminder_email_confirmed_at = now(), refused_email = 'bills@x.example', refused_at = now()",
    );
    await signInAs("mira@newer.example");
    assertEquals([await reminders(), await changes()], [{ address: "bills@x.example", refused: "bills@x.example" }, 2]);

    // If it equals the new address, it is no longer separate.
    await set("reminder_email_confirmed_at = null, refused_email = null, refused_at = null");
    await signInAs("bills@x.example");
    assertEquals(await reminders(), { address: "bills@x.example", refused: null });
    assertEquals(await database.query("select reminder_email, reminder_email_confirmed_at from identity.profiles"), [
      { reminder_email: null, reminder_email_confirmed_at: null },
    ]);
  },
);

accountTest(
  "a reminder address takes effect after one click on its link, on any device",
  async (pages, database) => {
    await onboarded(pages, database, "mira@example.com", { reminder_email: "bills@example.com" });
    assertEquals(pages.mails.map(({ to }) => to), ["bills@example.com"]);
    assertStringIncludes(pages.mails[0]!.subject, "Expenses");
    assertStringIncludes(pages.mails[0]!.text, "mira@example.com asked us to send bill reminders");
    assertStringIncludes(pages.mails[0]!.text, "The link works for 7 days.");
    const link = /https:\/\/expenses\.example(\/account\/reminder-email\?t=\S+)/.exec(pages.mails[0]!.text)![1]!;
    const confirmed = async () =>
      (await database.query<{ at: string | null }>("select reminder_email_confirmed_at as at from identity.profiles"))[
        0
      ]!.at;

    const elsewhere = pages.browser();
    const page = await (await elsewhere.get(link)).text();
    assertEquals(await confirmed(), null);
    assertStringIncludes(page, "bills@example.com");
    const done = await elsewhere.submit(page, "Yes, send them here");
    assertEquals(done.status, 200);
    assertEquals(await confirmed(), "2026-11-20T10:00:00+00:00");
    assertEquals(await auditOf(database), ["account.created", "reminders.address_confirmed"]);

    assertEquals((await elsewhere.post(link.slice(0, -3), {})).status, 400);
    pages.clock.now = new Date(NOW.getTime() + 8 * 24 * 3600_000);
    assertEquals((await elsewhere.get(link)).status, 400);
  },
);

accountTest(
  "POST /account changes reminders; a new address needs confirmation by mail",
  async (pages, database) => {
    const { browser } = await onboarded(pages, database);
    const page = await (await browser.get("/account")).text();
    const save = (fields: Record<string, string>) => browser.submit(page, 'value="reminders"', fields);
    assertEquals(
      (await save({ timezone: "Asia/Kolkata", default_lead_days: "7" })).headers.get("location"),
      "/account?done=saved",
    );
    assertEquals(
      (await save({ reminder_email: "bills@example.com" })).headers.get("location"),
      "/account?done=confirm",
    );
    assertEquals(pages.mails.map(({ to }) => to), ["bills@example.com"]);
    const waiting = await (await browser.get("/account?done=confirm")).text();
    assertMatch(waiting, /bills@example\.com<\/bdi> isn’t confirmed yet/);

    for (
      const wrong of [
        "timezone=Nowhere",
        "default_lead_days=91",
        "default_lead_days=1.5",
        "default_lead_days=",
        "reminder_email=x",
      ]
    ) {
      const [field, value] = wrong.split("=");
      assertEquals((await save({ [field!]: value! })).status, 400, wrong);
    }
    const form = formsOf(page).find(({ html }) => html.includes('value="reminders"'))!;
    const { email_enabled: _, ...off } = form.fields;
    await browser.post("/account", off);
    assertEquals(
      await database.query("select timezone, default_lead_days, email_enabled, reminder_email from identity.profiles"),
      [
        { timezone: "Europe/Berlin", default_lead_days: 3, email_enabled: false, reminder_email: null },
      ],
    );
  },
);

accountTest(
  "POST /account changes only this member's choice of mails",
  async (pages, database) => {
    const owner = await onboarded(pages, database);
    const member = await onboarded(pages, database, "ben@example.com");
    await addMember(database, owner.organizationId, member.id, "member");
    const mails = async () =>
      (await database.query<{ mails: string }>(
        "select mails from identity.memberships where organization_id = $1 order by role",
        [owner.organizationId],
      )).map((row) => row.mails);
    const page = await (await member.browser.get("/account")).text();
    const save = (fields: Record<string, string>) => member.browser.submit(page, 'value="mails"', fields);
    assertEquals((await save({ mails: "all" })).headers.get("location"), "/account?done=mails");
    assertEquals(await mails(), ["all", "mine"]);
    assertMatch(await (await member.browser.get("/account?done=mails")).text(), /<option value="all" selected/);
    assertEquals((await save({ mails: "some" })).status, 400);
    assertEquals((await save({ mails: "none", organization_id: "org_000000000000" })).status, 403);
    assertEquals(await mails(), ["all", "mine"]);
    assertEquals((await auditOf(database)).at(-1), "reminders.mails_chosen");

    // An owner has no choice on the page, but can turn reminders on again after using an unsubscribe link.
    const chooses = async () => (await (await owner.browser.get("/account")).text()).includes('value="mails"');
    assertEquals(await chooses(), false);
    await database.asService("unsubscribe", {
      user_id: owner.id,
      scope: owner.organizationId,
      at: "2026-11-20T10:00:00Z",
    });
    assertEquals([await mails(), await chooses()], [["all", "none"], true]);
    const ended = await (await owner.browser.get("/account")).text();
    await owner.browser.submit(ended, 'value="mails"', {});
    assertEquals(await mails(), ["all", "mine"]);
  },
);
