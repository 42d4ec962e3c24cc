/** Invitations: the right to send them, and acceptance only once, in time, by the invited person. */
import { assert, assertEquals } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import { hashToken } from "../../shared/oauth/tokens.ts";
import { openBooks } from "../_support/books.ts";
import { addressOf, AT, household, later, membersOf } from "./household.ts";

const database = await sharedDatabase();
const { invite, read, accept, about, roles, events, invitationId } = membersOf(database);

Deno.test("invite_member() lets the owner invite to every role and managers to lower ones", async () => {
  const home = await household(database);
  const by = { owner: home.anna.userId, manager: home.manager, member: home.member, viewer: home.viewer };
  const outcomes: Record<string, string[]> = {};
  for (const [who, userId] of Object.entries({ ...by, stranger: home.stranger })) {
    outcomes[who] = [];
    for (const role of ["manager", "member", "viewer", "owner"]) {
      const address = `${who}.${role}@new.example`;
      outcomes[who].push(await invite(home, userId, { address, role, token: address }));
    }
  }
  const none = Array(4).fill("not_allowed");
  assertEquals(outcomes, {
    owner: ["invited", "invited", "invited", "not_allowed"],
    manager: ["not_allowed", "invited", "invited", "not_allowed"],
    member: none,
    viewer: none,
    stranger: none,
  });
});

Deno.test("an invitation adds a member once; a second click and a replay, even after removal, change nothing", async () => {
  const home = await household(database);
  assertEquals(await invite(home, home.anna.userId, { role: "viewer" }), "invited");
  const { outcome, inviter, role, organization_name } = await read(home.stranger);
  assertEquals([outcome, inviter, role, organization_name], [
    "open",
    addressOf(home.anna.userId),
    "viewer",
    "Household",
  ]);
  assertEquals(await accept(home.stranger), "accepted");
  assertEquals((await roles(home))[home.stranger], "viewer");
  assertEquals(await accept(home.stranger), "already_member");
  await about("remove_member", home, { by: home.anna.userId, member: home.stranger });
  assertEquals([(await read(home.stranger)).outcome, await accept(home.stranger)], ["used", "used"]);
  assertEquals((await roles(home))[home.stranger], undefined);
  assertEquals(await events(), [
    `member.invited {"role":"viewer"}`,
    `member.joined {"role":"viewer","invited_by":"${home.anna.userId}"}`,
    `member.removed {"member_id":"${home.stranger}","unassigned":0}`,
  ]);
});

Deno.test("a forwarded invitation link shows only the invited address", async () => {
  const home = await household(database);
  await invite(home, home.anna.userId, { address: "Guest@Example.com" });
  assertEquals(await read(home.stranger), { outcome: "for_another", masked_address: "g…@e….com" });
  assertEquals(await accept(home.stranger), "for_another");
  assertEquals(await accept(home.stranger, { token: "guessed" }), "unknown");
  assertEquals((await roles(home))[home.stranger], undefined);
  // The identity provider's spelling of the address does not matter.
  assertEquals(await accept(home.stranger, { email: "GUEST@example.com" }), "accepted");
});

Deno.test("the recipient of the mail sees an open invitation without a session, and whether the address has an account", async () => {
  const home = await household(database);
  await invite(home, home.anna.userId, { address: "guest@example.com" });
  const read = async (token = "first") =>
    await database.asService<{ outcome: string; address?: string; onboarded?: boolean }>("read_invitation", {
      token_hash: hashToken(token),
      user_id: null,
      email: null,
      at: AT,
    });
  const shown = await read();
  assertEquals([shown.outcome, shown.address, shown.onboarded], ["open", "guest@example.com", false]);
  assertEquals(await read("guessed"), { outcome: "unknown" });
  await database.query("update identity.profiles set email = 'Guest@example.com' where user_id = $1", [home.stranger]);
  assertEquals((await read()).onboarded, true);
  await database.query("update identity.invitations set accepted_at = $1", [AT]);
  assertEquals((await read()).outcome, "used");
});

Deno.test("an invitation expires after seven days, and sending it again ends the earlier link", async () => {
  const home = await household(database);
  await invite(home, home.anna.userId);
  assertEquals([await accept(home.stranger, { at: later(7) }), (await read(home.stranger, { at: later(7) })).outcome], [
    "expired",
    "expired",
  ]);
  const resend = async (by: string, token: string) =>
    (await database.asService<{ outcome: string }>("resend_invitation", {
      user_id: by,
      invitation_id: await invitationId(),
      token_hash: hashToken(token),
      at: later(7),
    })).outcome;
  assertEquals(await resend(home.member, "second"), "unknown");
  assertEquals(await resend(home.manager, "second"), "invited");
  assertEquals(await accept(home.stranger, { token: "first", at: later(7) }), "unknown");
  // After a second invitation only one exists, with the newest role.
  assertEquals(await invite(home, home.anna.userId, { role: "manager", token: "third", at: later(8) }), "invited");
  assertEquals(await accept(home.stranger, { token: "second", at: later(8) }), "unknown");
  assertEquals(await invite(home, home.manager, { role: "viewer", token: "fourth", at: later(8) }), "not_allowed");
  assertEquals((await database.query("select id from identity.invitations")).length, 1);
  assertEquals(await accept(home.stranger, { token: "third", at: later(14) }), "accepted");
  assertEquals((await roles(home))[home.stranger], "manager");
});

Deno.test("withdraw_invitation() requires the right to invite, and allows a new invitation of the address", async () => {
  const home = await household(database);
  await invite(home, home.anna.userId, { role: "manager" });
  const withdraw = async (by: string) =>
    (await database.asService<{ outcome: string }>("withdraw_invitation", {
      user_id: by,
      invitation_id: await invitationId(),
      at: AT,
    })).outcome;
  const other = await openBooks(database, { day: "2026-11-20" });
  assertEquals(
    [await withdraw(other.userId), await withdraw(home.member), await withdraw(home.manager)],
    ["unknown", "unknown", "not_allowed"],
  );
  assertEquals([await withdraw(home.anna.userId), await withdraw(home.anna.userId)], ["withdrawn", "unknown"]);
  assertEquals([await accept(home.stranger), (await read(home.stranger)).outcome], ["withdrawn", "withdrawn"]);
  assertEquals(await invite(home, home.manager, { token: "second" }), "invited");
  assertEquals(await accept(home.stranger, { token: "second" }), "accepted");
});

Deno.test("an invitation ends when its inviter is removed, demoted or suspended", async () => {
  for (const lose of ["remove", "demote", "suspend"] as const) {
    const home = await household(database);
    await invite(home, home.manager);
    const asked = { by: home.anna.userId, member: home.manager };
    if (lose === "remove") assertEquals(await about("remove_member", home, asked), "removed");
    if (lose === "demote") {
      assertEquals(await about("change_member_role", home, { ...asked, role: "member" }), "changed");
    }
    if (lose === "suspend") {
      await database.query("update auth.users set banned_until = 'infinity' where id = $1", [home.manager]);
    }
    assertEquals([await accept(home.stranger), (await read(home.stranger)).outcome], ["withdrawn", "withdrawn"], lose);
    // Rejoining restores no invitation.
    if (lose === "demote") {
      await about("change_member_role", home, { ...asked, role: "manager" });
      assertEquals(await accept(home.stranger), "withdrawn");
    }
  }
});

Deno.test("only the Team plan lets people join, even between invitation and acceptance; members stay", async () => {
  const home = await household(database);
  await invite(home, home.anna.userId);
  await database.query("update identity.organizations set plan = 'pro' where id = $1", [home.organizationId]);
  assertEquals(await invite(home, home.anna.userId, { address: "another@example.com", token: "second" }), "plan");
  assertEquals([await accept(home.stranger), (await read(home.stranger)).outcome], ["plan", "plan"]);
  assertEquals(Object.keys(await roles(home)).length, 4);
  await database.query("update identity.organizations set trial_ends_at = $2 where id = $1", [
    home.organizationId,
    later(1),
  ]);
  assertEquals(await accept(home.stranger, { at: later(1) }), "plan");
  assertEquals(await accept(home.stranger), "accepted");
});

Deno.test("invite_member() refuses members and the twenty-first open invitation", async () => {
  const home = await household(database);
  const address = addressOf(home.member).toUpperCase();
  assertEquals(await invite(home, home.anna.userId, { address }), "already_member");
  for (let n = 0; n < 20; n++) {
    assertEquals(await invite(home, home.anna.userId, { address: `${n}@example.com`, token: `${n}` }), "invited");
  }
  assertEquals(await invite(home, home.anna.userId, { token: "more" }), "too_many");
  assertEquals(await invite(home, home.anna.userId, { address: "3@example.com", token: "again" }), "invited");
  // Expired invitations don't count.
  assertEquals(await invite(home, home.anna.userId, { token: "more", at: later(7) }), "invited");
});

Deno.test("a person without a profile creates one, then accepts; other organizations are unchanged", async () => {
  const home = await household(database);
  const other = await openBooks(database, { day: "2026-11-20" });
  const id = crypto.randomUUID();
  await database.query("insert into auth.users (id, email) values ($1, $2)", [id, addressOf(id)]);
  await invite(home, home.anna.userId, { address: addressOf(id) });
  assertEquals([(await read(id)).onboarded, await accept(id)], [false, "not_onboarded"]);
  const made = await database.asService<{ outcome: string; organization_id: string | null }>("complete_onboarding", {
    user_id: id,
    email: addressOf(id),
    country: "FR",
    organization_name: null,
    timezone: "Europe/Paris",
    base_currency: "EUR",
    reminder_email: addressOf(id),
    at: AT,
  });
  assertEquals(made, { outcome: "created", organization_id: null });
  assertEquals(await accept(id), "accepted");
  const [counts] = await database.query<{ theirs: number; others: number; trial: string | null }>(
    `select (select count(*)::int from identity.memberships where user_id = $1) as theirs,
       (select count(*)::int from identity.memberships where organization_id = $2) as others,
       (select trial_started_at from identity.profiles where user_id = $1) as trial`,
    [id, other.organizationId],
  );
  assertEquals(counts, { theirs: 1, others: 1, trial: null });
});

Deno.test("create_organization() is idempotent and gives a person one trial", async () => {
  const home = await household(database);
  const create = async (userId: string, name: string, at = AT) => {
    const answer = await database.asService<{ outcome: string; organization_id?: string }>("create_organization", {
      user_id: userId,
      name,
      base_currency: "CHF",
      at,
    });
    const [made] = await database.query<{ trial: boolean; role: string; categories: number }>(
      `select o.trial_ends_at = $2::timestamptz + interval '14 days' as trial, m.role,
         (select count(*)::int from app.categories as c where c.organization_id = o.id) as categories
       from identity.organizations as o join identity.memberships as m on m.organization_id = o.id
       where o.id = $1 and m.user_id = o.owner_id`,
      [answer.organization_id ?? "", at],
    );
    return { ...answer, ...made };
  };
  const [first, again] = [await create(home.stranger, " Workshop "), await create(home.stranger, "Workshop")];
  assertEquals([first.outcome, first.trial, first.role, first.categories], ["created", true, "owner", 16]);
  assertEquals(again.organization_id, first.organization_id);
  const second = await create(home.stranger, "Workshop", later(1));
  assert(second.organization_id !== first.organization_id);
  assertEquals(second.trial, null);
  for (let n = 3; n <= 20; n++) assertEquals((await create(home.stranger, `No ${n}`)).outcome, "created");
  assertEquals((await create(home.stranger, "One more")).outcome, "too_many");
  assertEquals((await create(crypto.randomUUID(), "Nobody's")).outcome, "unknown");
  const unknown = await database.asService("create_organization", {
    user_id: home.stranger,
    name: "A",
    base_currency: "XXX",
    at: AT,
  });
  assertEquals(unknown, { outcome: "invalid", field: "base_currency" });
});
