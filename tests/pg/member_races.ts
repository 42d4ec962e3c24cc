/** Concurrent changes to an organization's members, on real PostgreSQL. */
import { assert, assertEquals } from "@std/assert";
import { addPerson, type Json, openBooks } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";
import { addressOf, AT, household, membersOf } from "../db/household.ts";
import { inLine, organizationOf } from "./in_line.ts";

const database = await sharedDatabase();
const { invite, accept, about, handover, handoverId, invitationId, roles } = membersOf(database);

const ROUNDS = 10;
/** Runs a race several times, because each side may win a round. */
const rounds = async (race: () => Promise<void>) => {
  for (let round = 0; round < ROUNDS; round++) await race();
};

Deno.test("eight concurrent clicks on one link make one member", async () => {
  const home = await household(database);
  await invite(home, home.anna.userId);
  const outcomes = await Promise.all(Array.from({ length: 8 }, () => accept(home.stranger)));
  assertEquals(outcomes.toSorted(), ["accepted", ...Array(7).fill("already_member")]);
  const [{ joined }] = await database.query<{ joined: number }>(
    "select count(*)::int as joined from identity.audit_events where event = 'member.joined'",
  ) as [{ joined: number }];
  assertEquals(joined, 1);
});

Deno.test("concurrent withdrawal and acceptance: either the person joins or the invitation is withdrawn", async () => {
  await rounds(async () => {
    const home = await household(database);
    await invite(home, home.anna.userId);
    const id = await invitationId();
    const [accepted, withdrawn] = await Promise.all([
      accept(home.stranger),
      database.asService<{ outcome: string }>("withdraw_invitation", {
        user_id: home.anna.userId,
        invitation_id: id,
        at: AT,
      }).then(({ outcome }) => outcome),
    ]);
    const isMember = (await roles(home))[home.stranger] !== undefined;
    assertEquals([accepted === "accepted", withdrawn === "withdrawn"], [isMember, !isMember]);
  });
});

Deno.test("a member change that waited for the start of a deletion is refused", async () => {
  for (const name of ["propose_owner", "open_private"] as const) {
    const home = await household(database);
    const asked = { user_id: home.anna.userId, organization_id: home.organizationId, name: "Household", at: AT };
    const member = name === "propose_owner" ? home.member : home.viewer;
    const [deleted, changed] = await inLine(
      database,
      organizationOf(home.organizationId),
      () => database.asService<Json>("delete_organization", asked),
      () => about(name, home, { by: home.anna.userId, member, ...(name === "open_private" && { sees_private: true }) }),
    );
    assertEquals([deleted.outcome, changed], ["scheduled", "no_changes"]);
  }
});

Deno.test("removing the inviter during an acceptance leaves no member without a valid inviter", async () => {
  await rounds(async () => {
    const home = await household(database);
    await invite(home, home.manager);
    const [accepted, removed] = await Promise.all([
      accept(home.stranger),
      about("remove_member", home, { by: home.anna.userId, member: home.manager }),
    ]);
    assertEquals(removed, "removed");
    assertEquals((await roles(home))[home.stranger] !== undefined, accepted === "accepted");
    assert(["accepted", "withdrawn"].includes(accepted), accepted);
    const open = await database.query(
      "select from identity.invitations where accepted_at is null and withdrawn_at is null",
    );
    assertEquals(open.length, 0);
  });
});

Deno.test("a hand-over with a concurrent removal always leaves one owner, who is a member", async () => {
  await rounds(async () => {
    const home = await household(database);
    await about("propose_owner", home, { by: home.anna.userId, member: home.member });
    const id = await handoverId();
    const [accepted, removed] = await Promise.all([
      handover("accept_handover", home, { by: home.member, id }),
      about("remove_member", home, { by: home.anna.userId, member: home.member }),
    ]);
    assertEquals(
      [accepted, removed].toSorted(),
      accepted === "accepted" ? ["accepted", "unknown"] : ["removed", "unknown"],
    );
    const owners = Object.entries(await roles(home)).filter(([, role]) => role === "owner").map(([id]) => id);
    assertEquals(owners, [accepted === "accepted" ? home.member : home.anna.userId]);
    const [organization] = await database.query<{ owner_id: string }>("select owner_id from identity.organizations");
    assertEquals(organization!.owner_id, owners[0]);
  });
});

Deno.test("eight concurrent acceptances of a hand-over apply once", async () => {
  const home = await household(database);
  await about("propose_owner", home, { by: home.anna.userId, member: home.member });
  const id = await handoverId();
  const outcomes = await Promise.all(
    Array.from({ length: 8 }, () => handover("accept_handover", home, { by: home.member, id })),
  );
  assertEquals(outcomes.toSorted(), ["accepted", ...Array(7).fill("unknown")]);
});

Deno.test("removing a member during assignments leaves no bill assigned to them", async () => {
  const home = await household(database);
  const guest = await addPerson(database, "UTC");
  await invite(home, home.anna.userId, { address: addressOf(guest) });
  await accept(guest);
  const answers = await Promise.all([
    ...Array.from(
      { length: 6 },
      (_, n) =>
        home.anna.call("add_bill", {
          name: `Bill ${n}`,
          amount: "10",
          first_due: "2026-12-01",
          assignee: addressOf(guest),
        }),
    ),
    about("remove_member", home, { by: home.anna.userId, member: guest }),
  ]);
  assertEquals(answers.at(-1), "removed");
  const [left] = await database.query("select count(*)::int as assigned from app.expenses where assignee_id = $1", [
    guest,
  ]);
  assertEquals(left, { assigned: 0 });
});

Deno.test("removing a member and rolling their bills don't wait for each other", async () => {
  await database.reset();
  const home = await household(database);
  const guest = await addPerson(database, "UTC");
  await invite(home, home.anna.userId, { address: addressOf(guest) });
  await accept(guest);
  const { bill } = await home.anna.ok("add_bill", {
    name: "Power",
    amount: "10",
    autopay: true,
    first_due: "2026-12-01",
    assignee: addressOf(guest),
  });
  const at = "2026-12-02T12:00:00Z";
  const roll = async () => {
    const [page] = await database.asService<Json[]>("find_rolling_pages", { at, size: 10 });
    return await database.asService<Json>("roll_bills", { at, page });
  };
  const remove = () => about("remove_member", home, { by: home.anna.userId, member: guest });
  const [removed, rolled] = await inLine(database, organizationOf(home.anna.organizationId), remove, roll);
  assertEquals(removed, "removed");
  assertEquals(rolled, { advanced: 0, failed: [], passed_over: 1 });
  assertEquals(await roll(), { advanced: 1, failed: [], passed_over: 0 });
  const [state] = await database.query(
    "select e.assignee_id, count(p.id)::int as paid from app.expenses as e " +
      "left join app.payments as p on p.expense_id = e.id where e.id = $1 group by e.id",
    [bill.id],
  );
  assertEquals(state, { assignee_id: null, paid: 1 });
});

Deno.test("eight concurrent creations of a first organization create one organization with one trial", async () => {
  const home = await household(database);
  const made = await Promise.all(
    Array.from({ length: 8 }, () =>
      database.asService<{ organization_id: string }>("create_organization", {
        user_id: home.stranger,
        name: "Workshop",
        base_currency: "EUR",
        at: AT,
      })),
  );
  assertEquals(new Set(made.map(({ organization_id }) => organization_id)).size, 1);
  const [counts] = await database.query(
    "select count(*)::int as owned, count(trial_ends_at)::int as trials from identity.organizations where owner_id = $1",
    [home.stranger],
  );
  assertEquals(counts, { owned: 1, trials: 1 });
});

Deno.test("deleting an account excludes a concurrent creation, acceptance, connection or cancellation", async () => {
  await rounds(async () => {
    const home = await household(database);
    const user_id = home.anna.userId;
    const { organizationId: organization_id } = home;
    const neighbour = await openBooks(database, { day: "2026-11-20" });
    await invite({ ...home, organizationId: neighbour.organizationId }, neighbour.userId, {
      address: addressOf(user_id),
    });
    const ask = async (name: string, args: Record<string, unknown>) =>
      (await database.asService<Json>(name, { user_id, at: AT, ...args })).outcome as string;
    await ask("delete_organization", { organization_id, name: "Household" });
    const [deleted, ...others] = await Promise.all([
      // Another person joined in the meantime, so the owner must submit the page again.
      ask("delete_account", { email: addressOf(user_id) }).catch(() => "busy"),
      ask("create_organization", { name: "Another", base_currency: "EUR" }),
      ask("keep_organization", { organization_id }),
      accept(user_id),
    ]);
    const [{ live }] = await database.query<{ live: number }>(
      `select count(*)::int as live from identity.memberships as m
       join identity.organizations as o on o.id = m.organization_id
       where m.user_id = $1 and o.deletes_at is null`,
      [user_id],
    ) as [{ live: number }];
    const [{ leaves }] = await database.query<{ leaves: boolean }>(
      "select deletes_at is not null as leaves from identity.profiles where user_id = $1",
      [user_id],
    ) as [{ leaves: boolean }];
    assertEquals(leaves, deleted === "scheduled");
    // The deletion comes later, so it may end the membership that the first call created.
    if (leaves) assertEquals(live, 0, `${deleted} ${others}`);
  });
});
