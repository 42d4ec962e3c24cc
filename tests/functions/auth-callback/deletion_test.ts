/** Deleting organizations and accounts on their pages, cancelling, and mails to members. */
import { assertEquals, assertMatch, assertNotMatch, assertStringIncludes } from "@std/assert";
import { addMember } from "../../_support/books.ts";
import type { TestDatabase } from "../../_support/database.ts";
import { accountTest, auditOf, connectApp, newPerson, onboarded } from "./account_harness.ts";
import { formsOf, NOW, signIn } from "./harness.ts";

const OVER = new Date(NOW.getTime() + 14 * 86_400_000);

const join = (database: TestDatabase, organizationId: string, userId: string, role = "member") =>
  addMember(database, organizationId, userId, role);

accountTest(
  "typing an organization's name deletes it once and mails members, and the owner can cancel",
  async (pages, database) => {
    const { browser, organizationId: organization } = await onboarded(pages, database, "mira@example.com", {
      organization_name: "Mira & Co",
    });
    const member = await onboarded(pages, database, "tom@example.com");
    await join(database, organization, member.id);
    const path = `/organizations/${organization}/delete`;
    assertStringIncludes(await (await browser.get("/account")).text(), path);

    const question = await (await browser.get(path)).text();
    assertStringIncludes(question, "the membership of one other person");
    pages.mails.length = 0;
    const wrong = await browser.submit(question, 'value="delete"', { name: "Mira" });
    assertEquals(wrong.status, 422);
    assertStringIncludes(await wrong.text(), "That isn’t its name.");
    assertEquals(pages.mails.length, 0);
    // A second click changes nothing.
    for (let press = 0; press < 2; press++) {
      const done = await browser.submit(question, 'value="delete"', { name: " Mira & Co " });
      assertEquals([done.status, done.headers.get("location")], [303, path]);
    }
    assertEquals(pages.mails.map(({ to }) => to), ["mira@example.com", "tom@example.com"]);
    for (const [mail, words] of [[0, "You asked us to delete"], [1, "mira@example.com is deleting"]] as const) {
      const { text } = pages.mails[mail]!;
      assertStringIncludes(text, words);
      assertStringIncludes(text, "4 December 2026");
      assertStringIncludes(text, path);
      assertNotMatch(text, /undefined|null|\[object/);
    }

    const going = await (await browser.get(path)).text();
    assertStringIncludes(going, "4 December 2026");
    assertStringIncludes(await (await browser.get("/account")).text(), "will be deleted on");
    const theirs = await (await member.browser.get(path)).text();
    assertStringIncludes(theirs, "Its owner can stop that until then.");
    assertEquals(formsOf(theirs).some(({ html }) => html.includes("keep")), false);

    const kept = await browser.submit(going, 'value="keep"');
    assertEquals([kept.status, kept.headers.get("location")], [303, "/account?done=organization_kept"]);
    assertEquals(pages.mails.length, 3);
    assertEquals((await auditOf(database)).filter((event) => event.includes("deletion")), [
      "organization.deletion_asked",
      "organization.deletion_stopped",
    ]);
  },
);

accountTest(
  "only the owner can delete or keep an organization, and only until its grace period ends",
  async (pages, database) => {
    const { browser, organizationId: organization } = await onboarded(pages, database, "mira@example.com", {
      organization_name: "Home",
    });
    const path = `/organizations/${organization}/delete`;
    const question = await (await browser.get(path)).text();
    for (
      const [role, email] of [["manager", "a@example.com"], ["member", "b@example.com"], ["viewer", "c@example.com"], [
        "",
        "d@example.com",
      ]]
    ) {
      const other = await onboarded(pages, database, email);
      if (role) await join(database, organization, other.id, role);
      assertEquals((await other.browser.get(path)).headers.get("location"), "/account", role);
      const own = await (await other.browser.get(`/organizations/${other.organizationId}/delete`)).text();
      const { form_token } = formsOf(own).find(({ html }) => html.includes('value="delete"'))!.fields;
      for (const action of ["delete", "keep"]) {
        const response = await other.browser.post(path, { form_token: form_token!, action, name: "Home" });
        assertEquals(response.status, 403, `${role} ${action}`);
      }
    }
    await browser.submit(question, 'value="delete"', { name: "Home" });
    const going = await (await browser.get(path)).text();
    const { form_token } = formsOf(going).find(({ html }) => html.includes('value="keep"'))!.fields;
    await database.query("update identity.organizations set deletes_at = $2 where id = $1", [organization, NOW]);
    assertEquals((await browser.post(path, { form_token: form_token!, action: "keep" })).status, 403);
    const [left] = await database.query(
      "select deletes_at is not null as going from identity.organizations where id = $1",
      [organization],
    );
    assertEquals(left, { going: true });
  },
);

accountTest(
  "an account is deleted after its organizations and loses access at once, and signing in keeps it",
  async (pages, database) => {
    const owner = await onboarded(pages, database, "mira@example.com", { organization_name: "Home" });
    const { id, browser, organizationId: own } = await onboarded(pages, database, "tom@example.com", {
      organization_name: "Tom’s",
    });
    await join(database, owner.organizationId, id);
    await connectApp(database, { userId: id, name: "Claude" });
    const owns = await (await browser.get("/account/delete")).text();
    assertMatch(owns, /hand over or delete the organizations you own/);
    assertStringIncludes(owns, `/organizations/${own}/delete`);
    await browser.submit(await (await browser.get(`/organizations/${own}/delete`)).text(), 'value="delete"', {
      name: "Tom’s",
    });

    const question = await (await browser.get("/account/delete")).text();
    assertStringIncludes(question, "<bdi>Home</bdi>");
    assertEquals((await browser.submit(question, 'value="delete"', { address: "mira@example.com" })).status, 422);
    const done = await browser.submit(question, 'value="delete"', { address: "TOM@example.com " });
    assertEquals(done.status, 200);
    assertStringIncludes(await done.text(), "4 December 2026");
    assertEquals(pages.provider.requests.at(-1), "POST /auth/v1/logout");
    const [left] = await database.query(
      `select (select count(*)::int from oauth.grants where user_id = $1) as grants,
       (select count(*)::int from identity.memberships where user_id = $1 and organization_id = $2) as memberships`,
      [id, owner.organizationId],
    );
    assertEquals(left, { grants: 0, memberships: 0 });

    pages.clock.now = new Date(NOW.getTime() + 86_400_000);
    const again = await signIn(pages, "tom@example.com");
    assertEquals(again.location, "/account/delete");
    const going = await (await again.browser.get("/account/delete")).text();
    const kept = await again.browser.submit(going, 'value="keep"');
    assertEquals(kept.headers.get("location"), "/account");
    pages.clock.now = new Date(NOW.getTime() + 2 * 86_400_000);
    assertEquals((await signIn(pages, "tom@example.com")).location, "/account");
    const [purged] = await database.query("select jobs.purge_people($1) as done", [OVER.toISOString()]);
    assertEquals(purged, { done: { people: 0 } });
  },
);

accountTest("a person who never finished onboarding can delete the account", async (pages, database) => {
  const { id, browser } = await newPerson(pages, database, "new@example.com");
  const question = await (await browser.get("/account/delete")).text();
  assertEquals((await browser.submit(question, 'value="delete"', { address: "new@example.com" })).status, 200);
  await database.query("select jobs.purge_people($1)", [OVER.toISOString()]);
  assertEquals(await database.query("select id from auth.users where id = $1", [id]), []);
});
