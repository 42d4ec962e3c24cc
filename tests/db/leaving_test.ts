/**
 * Accounts and organizations that are being deleted accept no writes, and the purge always ends.
 * `tests/pg/member_races.ts` tests the same concurrently.
 */
import { assertEquals } from "@std/assert";
import { addressOf, AT, type Household, household, later, membersOf } from "./household.ts";
import { type Json, openBooks } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";
import { hashToken } from "../../shared/oauth/tokens.ts";

const database = await sharedDatabase();
const { invite, read, accept, about, handover, handoverId, invitationId, roles } = membersOf(database);

const ask = async (name: string, args: Record<string, unknown>): Promise<string> =>
  (await database.asService<Json>(name, { at: AT, ...args })).outcome;
const deleteOrganization = (home: Household) =>
  ask("delete_organization", { user_id: home.anna.userId, organization_id: home.organizationId, name: "Household" });
const deleteAccount = (user_id: string) => ask("delete_account", { user_id, email: addressOf(user_id) });
const live = async (user_id: string) => {
  const [row] = await database.query<{ organizations: number; memberships: number; grants: number }>(
    `select (select count(*)::int from identity.organizations where owner_id = $1 and deletes_at is null) as organizations,
       (select count(*)::int from identity.memberships as m join identity.organizations as o on o.id = m.organization_id
         where m.user_id = $1 and o.deletes_at is null) as memberships,
       (select count(*)::int from oauth.grants where user_id = $1) as grants`,
    [user_id],
  );
  return row!;
};
const NOTHING = { organizations: 0, memberships: 0, grants: 0 };

const client = async () => {
  const client_id = `client_${crypto.randomUUID()}`;
  await database.query(
    "insert into oauth.clients (client_id, client_name, redirect_uris, created_at) values ($1, 'App', '{http://127.0.0.1/}', $2)",
    [client_id, AT],
  );
  return client_id;
};

Deno.test("an account that is being deleted can't create, join or connect, and the purge deletes it", async () => {
  const home = await household(database);
  const { userId } = home.anna;
  const neighbour = await openBooks(database, { day: "2026-11-20" });
  await invite({ ...home, organizationId: neighbour.organizationId }, neighbour.userId, { address: addressOf(userId) });
  const client_id = await client();
  const redeem = () =>
    ask("redeem_authorization_code", {
      ...{ code_id: crypto.randomUUID(), code_expires_at: later(1), client_id, redirect_uri: "http://127.0.0.1/" },
      ...{ user_id: userId, organization_id: home.organizationId, resource: "http://127.0.0.1/api/mcp" },
      ...{ access_token_hash: hashToken("access"), refresh_token_hash: hashToken("refresh") },
    });
  await about("propose_owner", home, { by: userId, member: home.member });
  const handover_id = await handoverId();
  assertEquals([await deleteOrganization(home), await deleteAccount(userId)], ["scheduled", "scheduled"]);

  const person = { user_id: userId, organization_id: home.organizationId };
  const founded = { name: "Another", base_currency: "EUR" };
  assertEquals(await ask("create_organization", { user_id: userId, ...founded }), "leaving");
  assertEquals(await database.asService("read_new_organization", { user_id: userId, at: AT }), null);
  assertEquals((await read(userId)).outcome, "leaving");
  assertEquals(await accept(userId), "leaving");
  assertEquals(
    await ask("approve_consent", { ...person, client_id, consent_id: crypto.randomUUID() }),
    "not_a_member",
  );
  assertEquals(await redeem(), "not_a_member");
  assertEquals(await ask("keep_organization", person), "forbidden");
  assertEquals(await about("propose_owner", home, { by: userId, member: home.manager }), "no_changes");
  assertEquals(await handover("accept_handover", home, { by: home.member, id: handover_id }), "no_changes");
  assertEquals(await live(userId), NOTHING);

  await database.query("select jobs.purge($1)", [later(15)]);
  assertEquals(await database.query("select id from auth.users where id = $1", [userId]), []);
  assertEquals(await database.query("select id from identity.organizations where id = $1", [home.organizationId]), []);
});

Deno.test("an account that was kept can create, join and connect again", async () => {
  const home = await household(database);
  const { userId } = home.anna;
  const neighbour = await openBooks(database, { day: "2026-11-20" });
  await invite({ ...home, organizationId: neighbour.organizationId }, neighbour.userId, { address: addressOf(userId) });
  await deleteOrganization(home);
  await deleteAccount(userId);
  assertEquals(await ask("keep_account", { user_id: userId }), "kept");
  assertEquals(await ask("create_organization", { user_id: userId, name: "Another", base_currency: "EUR" }), "created");
  assertEquals(await accept(userId), "accepted");
  const keep = { user_id: userId, organization_id: home.organizationId };
  assertEquals(await ask("keep_organization", keep), "kept");
  assertEquals(await live(userId), { organizations: 2, memberships: 3, grants: 0 });
});

Deno.test("complete_onboarding() refuses a person whose account is being deleted", async () => {
  await database.reset();
  const user_id = crypto.randomUUID();
  await database.query("insert into auth.users (id, email) values ($1, $2)", [user_id, addressOf(user_id)]);
  await deleteAccount(user_id);
  const onboard = () =>
    ask("complete_onboarding", {
      ...{ user_id, email: addressOf(user_id), country: "DE", organization_name: "Home", timezone: "Europe/Berlin" },
      ...{ base_currency: "EUR", reminder_email: null },
    });
  assertEquals([await onboard(), await live(user_id)], ["leaving", NOTHING]);
  await ask("keep_account", { user_id });
  assertEquals(await onboard(), "created");
});

Deno.test("an organization that is being deleted allows no invitation, acceptance or role change", async () => {
  const home = await household(database);
  const { userId } = home.anna;
  await invite(home, userId);
  const invitation_id = await invitationId();
  await deleteOrganization(home);
  assertEquals(await accept(home.stranger), "withdrawn");
  assertEquals(await invite(home, userId, { address: "new@example.com" }), "no_changes");
  assertEquals(await invite(home, home.manager, { address: "new@example.com" }), "no_changes");
  assertEquals(await invite(home, home.stranger, { address: "new@example.com" }), "not_allowed");
  const again = { user_id: userId, invitation_id, token_hash: hashToken("second") };
  assertEquals(await ask("resend_invitation", again), "no_changes");
  assertEquals(
    await about("change_member_role", home, { by: userId, member: home.member, role: "viewer" }),
    "no_changes",
  );
  const shown = await database.asService<Json>("read_members", {
    ...{ user_id: userId, organization_id: home.organizationId, at: AT },
  });
  assertEquals([shown.may_grow, shown.members.some((member: Json) => member.may_change)], [false, false]);
  assertEquals((await roles(home))[home.stranger], undefined);
  // A member can still leave before the deletion.
  assertEquals(await about("remove_member", home, { by: home.member, member: home.member }), "removed");
  await ask("keep_organization", { user_id: userId, organization_id: home.organizationId });
  assertEquals(await accept(home.stranger), "accepted");
});
