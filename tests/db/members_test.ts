/** Members: roles, removal and its effects, leaving, and handing over an organization. */
import { assert, assertEquals } from "@std/assert";
import { proposes, setRules } from "../_support/approvals.ts";
import { addMember, type Json, openBooks } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";
import { addressOf, AT, type Household, household, later, membersOf } from "./household.ts";

const database = await sharedDatabase();
const { invite, accept, about, handover, handoverId, roles, events } = membersOf(database);

Deno.test("change_member_role() lets the owner change every role, and managers those of members and viewers", async () => {
  const home = await household(database);
  const { anna, manager, member, viewer, stranger } = home;
  const change = (by: string, of: string, role: string) => about("change_member_role", home, { by, member: of, role });
  assertEquals(
    [
      await change(member, viewer, "member"),
      await change(viewer, member, "viewer"),
      await change(stranger, member, "viewer"),
      await change(manager, anna.userId, "viewer"),
      await change(manager, manager, "member"),
      await change(manager, member, "manager"),
      await change(anna.userId, anna.userId, "member"),
      await change(anna.userId, member, "owner"),
      await change(anna.userId, stranger, "member"),
    ],
    [
      "unknown",
      "unknown",
      "unknown",
      "not_allowed",
      "not_allowed",
      "not_allowed",
      "not_allowed",
      "not_allowed",
      "unknown",
    ],
  );
  assertEquals(await roles(home), {
    [anna.userId]: "owner",
    [manager]: "manager",
    [member]: "member",
    [viewer]: "viewer",
  });
  assertEquals([await change(manager, member, "viewer"), await change(anna.userId, viewer, "manager")], [
    "changed",
    "changed",
  ]);
  // Only the owner can change another manager.
  assertEquals(await change(manager, viewer, "viewer"), "not_allowed");
  assertEquals((await roles(home))[viewer], "manager");
});

Deno.test("open_private() shows private categories to a viewer until the role changes", async () => {
  const home = await household(database);
  const { anna, manager, member, viewer } = home;
  const open = (by: string, of: string, sees_private = true) =>
    about("open_private", home, { by, member: of, sees_private });
  assertEquals([await open(manager, viewer), await open(anna.userId, member), await open(anna.userId, viewer)], [
    "unknown",
    "unknown",
    "changed",
  ]);
  const sees = async () =>
    (await database.query<{ may: boolean }>("select identity.member_may($1, $2, 'books:private') as may", [
      home.organizationId,
      viewer,
    ]))[0]!.may;
  assertEquals(await sees(), true);
  await about("change_member_role", home, { by: anna.userId, member: viewer, role: "member" });
  assertEquals(await sees(), false);
});

/** A member's grant, calendar, assigned bill, import and stored answer. */
async function settle(home: Household, userId: string): Promise<void> {
  await home.anna.ok("add_bill", {
    name: "Rent",
    amount: "1310",
    first_due: "2026-12-01",
    assignee: addressOf(userId),
  });
  await database.exec(`
    insert into oauth.clients (client_id, client_name, redirect_uris, created_at)
      values ('client_1', 'Claude', '{https://claude.example/cb}', '${AT}') on conflict do nothing;
    with g as (
      insert into oauth.grants (client_id, user_id, organization_id, redirect_uri, resource, created_at, expires_at)
      values ('client_1', '${userId}', '${home.organizationId}', 'https://claude.example/cb', 'https://x.example', '${AT}', '2027-06-01')
      returning id
    )
    insert into oauth.tokens (token_hash, kind, grant_id, issued_at, expires_at)
      select sha256('t'), 'access', id, '${AT}', '2027-01-01' from g;
    insert into identity.calendar_feeds (organization_id, user_id, token_hash, created_at)
      values ('${home.organizationId}', '${userId}', sha256('c'), '${AT}');
    insert into app.import_batches (organization_id, actor_id, state, expires_at)
      values ('${home.organizationId}', '${userId}', 'waiting', '2026-11-21');
    insert into app.idempotency_keys (organization_id, actor_id, tool, key, arguments_hash, result, expires_at)
      values ('${home.organizationId}', '${userId}', 'log_expenses', 'their-own-key', 'a', '{}', '2026-11-21');`);
}

const traces = async (home: Household, userId: string) =>
  (await database.query<Record<string, number>>(
    `select (select count(*)::int from oauth.grants where user_id = $1 and organization_id = $2) as grants,
       (select count(*)::int from oauth.tokens where token_hash = sha256('t')) as tokens,
       (select count(*)::int from identity.calendar_feeds where user_id = $1 and organization_id = $2) as calendars,
       (select count(*)::int from app.expenses where assignee_id = $1 and organization_id = $2) as assigned,
       (select count(*)::int from app.import_batches where actor_id = $1 and organization_id = $2) as imports,
       (select count(*)::int from app.idempotency_keys where actor_id = $1 and organization_id = $2) as keys`,
    [userId, home.organizationId],
  ))[0]!;
const NOTHING = { grants: 0, tokens: 0, calendars: 0, assigned: 0, imports: 0, keys: 0 };

Deno.test("remove_member() reports and ends access, and a later invitation restores none of it", async () => {
  const home = await household(database);
  const { anna, member } = home;
  await settle(home, member);
  await anna.ok("log_expenses", {
    items: [{ name: "Dinner", amount: "90.00", date: "2026-11-19", shared: { between: ["me", addressOf(member)] } }],
  });
  const { state, ...removal } = await database.asService<Json>("read_removal", {
    user_id: anna.userId,
    organization_id: home.organizationId,
    member_id: member,
    at: AT,
  });
  assertEquals(state.name, "Household");
  assertEquals(removal, {
    organization_name: "Household",
    email: addressOf(member),
    country: "DE",
    timezone: "UTC",
    balances: [{ owes: true, who: addressOf(anna.userId), amount: "45.00", currency: "EUR" }],
    waiting: [],
    assigned: 1,
    apps: 1,
    has_calendar: true,
    imports: 1,
    links: 0,
    proposals: 0,
    invitations: 0,
  });
  const asked = { by: anna.userId, member };
  assertEquals([await about("remove_member", home, asked), await about("remove_member", home, asked)], [
    "removed",
    "unknown",
  ]);
  assertEquals(await traces(home, member), NOTHING);
  const { bills } = await anna.ok("list_bills");
  assertEquals(bills.map(({ name, assignee }: Json) => [name, assignee]), [["Rent", undefined]]);
  assert((await events()).includes(`member.removed {"member_id":"${member}","unassigned":1}`));
  await invite(home, anna.userId, { address: addressOf(member) });
  assertEquals(await accept(member), "accepted");
  assertEquals(await traces(home, member), NOTHING);
});

Deno.test("delete_account() has the effects of a removal in each organization", async () => {
  const home = await household(database);
  const { anna } = home;
  const leaver = await anna.join("manager");
  const other = await openBooks(database, { day: "2026-11-20" });
  await addMember(database, other.organizationId, leaver.userId, "member");
  await settle(home, leaver.userId);
  await other.ok("add_bill", {
    name: "Power",
    amount: "60",
    first_due: "2026-12-01",
    assignee: addressOf(leaver.userId),
  });
  await invite(home, leaver.userId);
  await setRules(database, anna, [{ roles: ["manager"], approver: "owner" }]);
  const id = await proposes(leaver, "log_expenses", { items: [{ name: "Lunch", amount: "14.50" }] });
  const deleted = await database.asService<Json>("delete_account", {
    user_id: leaver.userId,
    email: addressOf(leaver.userId),
    at: AT,
  });
  assertEquals(deleted.outcome, "scheduled");
  assertEquals(await traces(home, leaver.userId), NOTHING);
  assertEquals(leaver.userId in await roles(home), false);
  const left = await database.query(
    `select (select state from app.proposals where id = $1) as proposal,
       (select count(*)::int from identity.invitations where withdrawn_at is null) as invited,
       (select count(*)::int from identity.memberships where user_id = $2) as memberships,
       (select count(*)::int from app.expenses where assignee_id = $2) as assigned`,
    [id, leaver.userId],
  );
  assertEquals(left, [{ proposal: "withdrawn", invited: 0, memberships: 0, assigned: 0 }]);
});

Deno.test("remove_member() leaves the member's other organizations unchanged", async () => {
  const home = await household(database);
  const other = await household(database).then(async (two) => {
    await addMember(database, two.organizationId, two.stranger, "member");
    return two;
  });
  assert(home.organizationId !== other.organizationId);
  // The second organization of the same person.
  const third = await openBooks(database, { day: "2026-11-20" });
  await addMember(database, third.organizationId, other.stranger, "member");
  await settle(other, other.stranger);
  const before = await traces(other, other.stranger);
  const removed = await database.asService<Json>("remove_member", {
    user_id: third.userId,
    organization_id: third.organizationId,
    member_id: other.stranger,
    at: AT,
  });
  assertEquals(removed.outcome, "removed");
  assertEquals(await traces(other, other.stranger), before);
  assertEquals((await roles(other))[other.stranger], "member");
});

Deno.test("remove_member() refuses to remove the owner, refuses a manager who removes a manager, and lets others leave", async () => {
  const home = await household(database);
  const { anna, manager, member, viewer, stranger } = home;
  const remove = (by: string, of: string) => about("remove_member", home, { by, member: of });
  assertEquals(
    [
      await remove(manager, anna.userId),
      await remove(anna.userId, anna.userId),
      await remove(member, viewer),
      await remove(viewer, member),
      await remove(stranger, member),
      await remove(anna.userId, stranger),
    ],
    Array(6).fill("unknown"),
  );
  assertEquals(Object.keys(await roles(home)).length, 4);
  const other = await openBooks(database, { day: "2026-11-20" });
  assertEquals(await remove(other.userId, member), "unknown");
  await about("change_member_role", home, { by: anna.userId, member, role: "manager" });
  assertEquals(await remove(manager, member), "unknown");
  assertEquals([await remove(manager, viewer), await remove(member, member), await remove(manager, manager)], [
    "removed",
    "removed",
    "removed",
  ]);
  assertEquals(await roles(home), { [anna.userId]: "owner" });
  assertEquals((await events()).map((event) => event.split(" ")[0]), [
    "member.role_changed",
    "member.removed",
    "member.left",
    "member.left",
  ]);
});

Deno.test("the asked member confirms a hand-over once within seven days, and the former owner becomes a manager", async () => {
  const home = await household(database);
  const { anna, manager, member, stranger } = home;
  const propose = (by: string, of: string) => about("propose_owner", home, { by, member: of });
  assertEquals(
    [await propose(manager, member), await propose(anna.userId, stranger), await propose(anna.userId, anna.userId)],
    ["unknown", "unknown", "unknown"],
  );
  assertEquals(await propose(anna.userId, manager), "proposed");
  const replaced = await handoverId();
  assertEquals(await propose(anna.userId, member), "proposed");
  const id = await handoverId();
  assertEquals(await handover("accept_handover", home, { by: manager, id: replaced }), "unknown");
  assertEquals(await handover("accept_handover", home, { by: manager, id }), "unknown");
  assertEquals(await handover("accept_handover", home, { by: anna.userId, id }), "unknown");
  assertEquals(await handover("accept_handover", home, { by: member, id, at: later(7) }), "unknown");
  assertEquals(await handover("accept_handover", home, { by: member, id }), "accepted");
  assertEquals(await handover("accept_handover", home, { by: member, id }), "unknown");
  assertEquals(await roles(home), {
    [anna.userId]: "manager",
    [manager]: "manager",
    [member]: "owner",
    [home.viewer]: "viewer",
  });
  const [organization] = await database.query("select owner_id from identity.organizations where id = $1", [
    home.organizationId,
  ]);
  assertEquals(organization, { owner_id: member });
  assertEquals(await events(), [
    `organization.handover_proposed {"member_id":"${manager}"}`,
    `organization.handover_proposed {"member_id":"${member}"}`,
    `organization.handed_over {"from":"${anna.userId}"}`,
  ]);
});

Deno.test("end_handover() accepts only the owner or the asked member; removal ends a hand-over too", async () => {
  const home = await household(database);
  const { anna, manager, member } = home;
  for (const by of [anna.userId, member]) {
    await about("propose_owner", home, { by: anna.userId, member });
    const id = await handoverId();
    assertEquals(await handover("end_handover", home, { by: manager, id }), "unknown");
    assertEquals(await handover("end_handover", home, { by, id }), "ended");
    assertEquals(await handover("accept_handover", home, { by: member, id }), "unknown");
  }
  await about("propose_owner", home, { by: anna.userId, member });
  const id = await handoverId();
  await about("remove_member", home, { by: anna.userId, member });
  assertEquals(await handover("accept_handover", home, { by: member, id }), "unknown");
  assertEquals((await roles(home))[anna.userId], "owner");
});

Deno.test("a hand-over moves dates to the new owner's time zone, keeps the plan, and ends invitations of managers", async () => {
  const home = await household(database);
  const { anna, member } = home;
  await database.query("update identity.profiles set timezone = 'Pacific/Auckland' where user_id = $1", [member]);
  await database.query("update identity.organizations set trial_ends_at = $2 where id = $1", [
    home.organizationId,
    later(5),
  ]);
  await anna.ok("add_bill", { name: "Rent", amount: "1310", first_due: "2026-12-01" });
  await invite(home, anna.userId, { role: "manager", token: "manager", address: "new@example.com" });
  await invite(home, anna.userId, { role: "member", token: "member", address: addressOf(home.stranger) });
  await about("propose_owner", home, { by: anna.userId, member });
  assertEquals(await handover("accept_handover", home, { by: member, id: await handoverId() }), "accepted");
  // Noon in UTC is the next day in Auckland.
  await anna.ok("log_expenses", { items: [{ amount: "5", name: "Bakery" }] });
  const [paid] = await database.query<{ paid_on: string }>(
    "select p.paid_on::text from app.payments as p join app.expenses as e on e.id = p.expense_id where e.name = 'Bakery'",
  );
  assertEquals(paid!.paid_on, "2026-11-21");
  const [organization] = await database.query<Record<string, unknown>>(
    `select plan, trial_ends_at = $2 as same_trial from identity.organizations where id = $1`,
    [home.organizationId, later(5)],
  );
  assertEquals(organization, { plan: "team", same_trial: true });
  // A manager may still invite members, but no longer managers.
  assertEquals(await accept(home.stranger, { token: "manager", email: "new@example.com" }), "withdrawn");
  assertEquals(await accept(home.stranger, { token: "member" }), "accepted");
});

Deno.test("read_members() shows members to members, invitations to inviters, and nothing to strangers", async () => {
  const home = await household(database);
  const { anna, manager, member, viewer, stranger } = home;
  await invite(home, anna.userId);
  const seen = async (userId: string) => {
    const answer = await database.asService<Json>("read_members", {
      user_id: userId,
      organization_id: home.organizationId,
      at: AT,
    });
    return answer && [
      answer.role,
      answer.members.length,
      answer.members.filter(({ may_change }: Json) => may_change).length,
      answer.invitations.length,
    ];
  };
  assertEquals(
    [await seen(anna.userId), await seen(manager), await seen(member), await seen(viewer), await seen(stranger)],
    [["owner", 4, 3, 1], ["manager", 4, 2, 1], ["member", 4, 0, 0], ["viewer", 4, 0, 0], null],
  );
  const other = await openBooks(database, { day: "2026-11-20" });
  assertEquals(await seen(other.userId), null);
  await database.query("update auth.users set banned_until = 'infinity' where id = $1", [member]);
  assertEquals(await seen(member), null);
});
