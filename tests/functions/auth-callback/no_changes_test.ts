/** Pages of organizations that accept no changes explain it, name a person who can help, and refuse every form. */
import { assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { addMember } from "../../_support/books.ts";
import type { TestDatabase } from "../../_support/database.ts";
import { accountTest, onboarded } from "./account_harness.ts";
import { formsOf, type Pages } from "./harness.ts";

const textOf = (html: string) =>
  html.replaceAll(/<style.*?<\/style>/gs, "").replaceAll(/<[^>]+>/g, "").replaceAll(/\s+/g, " ");
const GOING = "Garden Street will be deleted on 4 December 2026. Until then you can read it, but nothing can be added";

/** Anna's organization with Ben, whom she asked to take it over, Vera, a viewer, and an open invitation. */
async function street(pages: Pages, database: TestDatabase) {
  const anna = await onboarded(pages, database, "anna@example.com", { organization_name: "Garden Street" });
  const [{ id }] = await database.query<{ id: string }>("select id from identity.organizations") as [{ id: string }];
  const join = async (email: string, role: string) => {
    const person = await onboarded(pages, database, email);
    await addMember(database, id, person.id, role);
    return person;
  };
  const [ben, vera] = [await join("ben@example.com", "member"), await join("vera@example.com", "viewer")];
  const ask = (name: string, args: Record<string, unknown>) =>
    database.asService<{ outcome: string }>(name, {
      ...{ user_id: anna.id, organization_id: id, at: pages.clock.now.toISOString(), ...args },
    });
  await ask("invite_member", { address: "new@example.com", role: "member", token_hash: "00".repeat(32) });
  await ask("propose_owner", { member_id: ben.id });
  const [{ invitation, handover }] = await database.query<{ invitation: string; handover: string }>(
    "select i.id as invitation, h.id as handover from identity.invitations as i, identity.handovers as h",
  ) as [{ invitation: string; handover: string }];
  const written = async () =>
    JSON.stringify(
      await database.query(
        `select (select jsonb_agg(m order by m.user_id) from identity.memberships as m where m.organization_id = $1) as m,
         (select jsonb_agg(i) from identity.invitations as i) as i, (select jsonb_agg(h) from identity.handovers as h) as h,
         (select o.name from identity.organizations as o where o.id = $1) as o,
         (select count(*)::int from identity.audit_events) as events`,
        [id],
      ),
    );
  const tokenOf = async ({ browser }: typeof anna) =>
    /name="form_token" value="([^"]+)"/.exec(await (await browser.get("/account")).text())![1]!;
  const remove = () => ask("delete_organization", { name: "Garden Street" });
  return { id, anna, ben, vera, invitation, handover, written, tokenOf, remove };
}

accountTest("an organization that is being deleted refuses every form", async (pages, database) => {
  const { id, anna, ben, vera, invitation, handover, written, tokenOf, remove } = await street(pages, database);
  const members = `/organizations/${id}/members`;
  const posts: [typeof anna, string, Record<string, string>][] = [
    [anna, members, { action: "invite", address: "more@example.com", role: "member" }],
    [anna, members, { action: "resend", invitation_id: invitation }],
    [anna, members, { action: "withdraw", invitation_id: invitation }],
    [anna, members, { action: "role", member_id: ben.id, role: "viewer" }],
    [anna, members, { action: "open_private", member_id: vera.id }],
    [anna, members, { action: "close_private", member_id: vera.id }],
    [anna, members, { action: "end_handover", handover_id: handover }],
    [ben, members, { action: "end_handover", handover_id: handover }],
    [ben, members, { action: "accept_handover", handover_id: handover }],
    [anna, `${members}/remove?member=${ben.id}`, {}],
    [anna, `/organizations/${id}/hand-over`, { member_id: ben.id }],
    [anna, "/account", { action: "rename", organization_id: id, name: "Other" }],
  ];
  const tokens = new Map([[anna, await tokenOf(anna)], [ben, await tokenOf(ben)]]);
  await remove();
  const before = await written();
  pages.mails.length = 0;
  for (const [who, path, fields] of posts) {
    const response = await who.browser.post(path, { form_token: tokens.get(who)!, ...fields });
    const about = `${path} ${fields.action}`;
    assertEquals([response.status, await written()], [403, before], about);
    const html = await response.text();
    assertStringIncludes(textOf(html), GOING, about);
    assertStringIncludes(
      textOf(html),
      who === anna ? "Keep it after all" : "Only its owner, anna@example.com, can stop that.",
    );
    assertStringIncludes(html, 'href="/account"', "what leads on is no second attempt");
  }
  assertEquals(pages.mails, []);
  // Posting reveals nothing to people without access.
  const stranger = await onboarded(pages, database, "stranger@example.com");
  const token = await tokenOf(stranger);
  for (const [, path, fields] of posts) {
    const html = await (await stranger.browser.post(path, { form_token: token, ...fields })).text();
    assertFalse(html.includes("Garden Street"), path);
  }
});

accountTest(
  "pages of an organization that is being deleted announce the deletion and offer no forms",
  async (pages, database) => {
    Object.assign(pages.config, {
      checkoutUrl: "https://pay.example/checkout?plan={plan}",
      invoicesUrl: "https://pay.example/invoices/{organization_id}",
      cancelUrl: "https://pay.example/cancel?o={organization_id}",
    });
    const { id, anna, ben, remove } = await street(pages, database);
    await remove();
    for (const [page, people] of [["plan", [anna, ben]], ["members", [anna, ben]], ["hand-over", [anna]]] as const) {
      for (const who of people) {
        const html = await (await who.browser.get(`/organizations/${id}/${page}`)).text();
        assertStringIncludes(textOf(html), GOING, page);
        assertStringIncludes(
          textOf(html),
          who === anna ? "Keep it after all" : "Only its owner, anna@example.com, can stop that.",
        );
        assertEquals(formsOf(html).map(({ action }) => action).filter((action) => action !== "/logout"), [], page);
        assertFalse(/pay\.example/.test(html), page);
      }
    }
    const account = formsOf(await (await anna.browser.get("/account")).text());
    assertFalse(account.some(({ fields }) => fields.action === "rename" && fields.organization_id === id));
    // A subscription outlives the organization, so a person can still cancel it.
    await database.query("update identity.organizations set plan = 'team' where id = $1", [id]);
    const paid = await (await anna.browser.get(`/organizations/${id}/plan`)).text();
    assertStringIncludes(paid, `https://pay.example/cancel?o=${id}`);
    assertFalse(paid.includes("/checkout"));
  },
);
