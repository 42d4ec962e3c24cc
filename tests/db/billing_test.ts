/** What payment events do to subscriptions, organizations and provider links. */
import { assertEquals, assertRejects } from "@std/assert";
import { addOrganization, deliver, ORGANIZATION, planOf, PLANS, resetBilling } from "../_support/billing.ts";
import { openDatabase } from "../_support/database.ts";

const database = await openDatabase();
Deno.test.afterAll(() => database.close());
Deno.test.beforeEach(() => resetBilling(database));

const day = (n: number) => new Date(Date.UTC(2026, 9, n));
const iso = (n: number) => `2026-10-${String(n).padStart(2, "0")}T00:00:00+00:00`;
const count = async (table: string) =>
  (await database.query<{ count: number }>(`select count(*)::int as count from ${table}`))[0]!.count;

const RUNNING = { plan: "of the event", plan_status: "active", past_due_since: null };
const FAILING = { plan: "of the event", plan_status: "past_due", past_due_since: "of the event" };
const ENDED = { plan: "free", plan_status: "canceled", past_due_since: null };
/** The source document's table of transitions. */
const NEXT: Record<string, typeof RUNNING | typeof FAILING> = {
  "subscription.activated": RUNNING,
  "subscription.charged": RUNNING,
  "subscription.resumed": RUNNING,
  "subscription.pending": FAILING,
  "subscription.halted": FAILING,
  "subscription.cancelled": ENDED,
  "subscription.completed": ENDED,
  "subscription.expired": ENDED,
};

/** Prior states by the events that lead to them, one a day. */
const PRIOR: Record<string, string[]> = {
  "on trial": [],
  "active": ["subscription.charged"],
  "resumed": ["subscription.activated", "subscription.halted", "subscription.resumed"],
  "past due": ["subscription.charged", "subscription.pending"],
  "past due for long": ["subscription.charged", "subscription.pending", "subscription.halted"],
  "past due from the start": ["subscription.pending"],
  "cancelled": ["subscription.charged", "subscription.cancelled"],
  "completed": ["subscription.charged", "subscription.completed"],
  "expired": ["subscription.expired"],
};

Deno.test("each event, from every prior state, ends in the state it names", async (t) => {
  let steps = 0;
  for (const [prior, events] of Object.entries(PRIOR)) {
    for (const [type, next] of Object.entries(NEXT)) {
      for (const [plan, planId] of Object.entries(PLANS)) {
        await t.step(`${type} of ${plan} when ${prior}`, async () => {
          const id = `org_${String(++steps).padStart(12, "0")}`;
          await addOrganization(database, { id });
          const about = { organizationId: id, planId, subscriptionId: `sub_${steps}` };
          for (const [index, earlier] of events.entries()) {
            assertEquals((await deliver(database, earlier, { ...about, at: day(1 + index) })).outcome, "applied");
          }
          const verdict = await deliver(database, type, { ...about, at: day(20) });
          assertEquals(verdict, { outcome: "applied", organization_id: id });
          const wasFailing = prior.startsWith("past due");
          const failingSince = wasFailing ? iso(prior === "past due from the start" ? 1 : 2) : iso(20);
          assertEquals(await planOf(database, id), {
            plan: next.plan === "free" ? "free" : plan,
            plan_status: next.plan_status,
            past_due_since: next.past_due_since && failingSince,
            trial_ends_at: null,
          });
        });
      }
    }
  }
});

Deno.test("events without effect are in the ledger and change nothing", async () => {
  await addOrganization(database);
  const before = await planOf(database);
  for (const type of ["subscription.authenticated", "subscription.updated", "subscription.paused"]) {
    assertEquals(await deliver(database, type, { at: day(1) }), { outcome: "ignored" });
    assertEquals(await deliver(database, type, { at: day(1) }), { outcome: "duplicate" });
  }
  assertEquals(await planOf(database), before);
  assertEquals([await count("billing.payment_events"), await count("billing.subscriptions")], [3, 0]);
  assertEquals(await count("identity.audit_events"), 0);
});

Deno.test("an event counts once, by its id and by its body", async () => {
  await addOrganization(database);
  const charged = { at: day(1), eventId: "evt_1" };
  assertEquals((await deliver(database, "subscription.charged", charged)).outcome, "applied");
  assertEquals((await deliver(database, "subscription.charged", charged)).outcome, "duplicate");
  // A captured body under a new id, then without one.
  assertEquals(
    (await deliver(database, "subscription.charged", { at: day(1), eventId: "evt_2" })).outcome,
    "duplicate",
  );
  assertEquals((await deliver(database, "subscription.charged", { at: day(1) })).outcome, "duplicate");
  // The id under which it was refused is still free.
  assertEquals((await deliver(database, "subscription.halted", { at: day(2), eventId: "evt_2" })).outcome, "applied");
  assertEquals(await count("billing.payment_events"), 2);
  assertEquals(await count("identity.audit_events"), 2);
});

Deno.test("a late event is stale: an end stays an end, a later payment revives", async () => {
  await addOrganization(database);
  assertEquals((await deliver(database, "subscription.cancelled", { at: day(10) })).outcome, "applied");
  assertEquals((await deliver(database, "subscription.charged", { at: day(9) })).outcome, "stale");
  assertEquals((await deliver(database, "subscription.charged", { at: day(10) })).outcome, "stale", "a tie");
  assertEquals((await planOf(database)).plan, "free");
  assertEquals((await deliver(database, "subscription.resumed", { at: day(11) })).outcome, "applied");
  assertEquals((await planOf(database)).plan, "pro");
});

Deno.test("past due counts from the first failure since the last payment, in whatever order they arrive", async () => {
  await addOrganization(database);
  await deliver(database, "subscription.halted", { at: day(14) });
  assertEquals((await planOf(database)).past_due_since, iso(14));
  assertEquals(
    (await deliver(database, "subscription.pending", { organizationId: ORGANIZATION, at: day(12) })).outcome,
    "stale",
  );
  assertEquals((await planOf(database)).past_due_since, iso(12));
  assertEquals(
    (await deliver(database, "subscription.pending", { organizationId: ORGANIZATION, at: day(5) })).outcome,
    "stale",
  );
  assertEquals((await planOf(database)).past_due_since, iso(5));
  assertEquals((await deliver(database, "subscription.charged", { at: day(6) })).outcome, "stale");
  assertEquals((await planOf(database)).past_due_since, iso(12));
});

Deno.test("a failure that we hear of late counts from a day before, so that the grace period is not over yet", async () => {
  await addOrganization(database);
  const pending = { organizationId: ORGANIZATION, at: day(1) };
  await deliver(database, "subscription.pending", { ...pending, receivedAt: day(11) });
  assertEquals((await planOf(database)).past_due_since, iso(10));
});

Deno.test("the end of an old subscription leaves a paying organization paid", async () => {
  await addOrganization(database);
  const old = { subscriptionId: "sub_old", planId: PLANS.pro, organizationId: ORGANIZATION };
  const current = { subscriptionId: "sub_new", planId: PLANS.team, organizationId: ORGANIZATION };
  await deliver(database, "subscription.charged", { ...old, at: day(1) });
  await deliver(database, "subscription.activated", { ...current, at: day(2) });
  for (const type of ["subscription.pending", "subscription.cancelled"]) {
    assertEquals((await deliver(database, type, { ...old, at: day(3) })).outcome, "applied");
    assertEquals(await planOf(database), {
      plan: "team",
      plan_status: "active",
      past_due_since: null,
      trial_ends_at: null,
    });
  }
  // The other way round: what is left is past due, and better than nothing.
  await deliver(database, "subscription.pending", { ...current, at: day(4) });
  assertEquals((await planOf(database)).plan_status, "past_due");
  await deliver(database, "subscription.cancelled", { ...current, at: day(5) });
  assertEquals((await planOf(database)).plan, "free");
});

Deno.test("a subscription is bound by the first event that names an organization, and for ever", async () => {
  const other = "org_000000000002";
  await addOrganization(database);
  await addOrganization(database, { id: other, plan: "free", trialEndsAt: null });
  await deliver(database, "subscription.charged", { organizationId: ORGANIZATION, at: day(1) });
  const moved = await deliver(database, "subscription.cancelled", { organizationId: other, at: day(2) });
  assertEquals(moved, { outcome: "applied", organization_id: ORGANIZATION, reason: "other_organization" });
  assertEquals((await planOf(database)).plan, "free");
  assertEquals((await planOf(database, other)).plan_status, "active");
  // Without notes it is found by its row.
  assertEquals((await deliver(database, "subscription.pending", { at: day(3) })).organization_id, ORGANIZATION);
});

Deno.test("events of an unknown organization or plan are parked, visible, and count once they are known", async () => {
  await addOrganization(database);
  const nowhere = { organizationId: "org_000000000009", subscriptionId: "sub_nowhere" };
  const unlisted = { organizationId: ORGANIZATION, subscriptionId: "sub_unlisted", planId: "plan_unlisted" };
  assertEquals(await deliver(database, "subscription.charged", { ...nowhere, at: day(1) }), {
    outcome: "parked",
    reason: "unknown_organization",
  });
  assertEquals(await deliver(database, "subscription.charged", { ...unlisted, at: day(1) }), {
    outcome: "parked",
    reason: "unknown_plan",
  });
  const dateless = { subscription: { id: null }, organizationId: ORGANIZATION, at: day(1) };
  assertEquals(await deliver(database, "subscription.charged", dateless), { outcome: "parked", reason: "incomplete" });
  assertEquals((await planOf(database)).trial_ends_at, "2026-12-01T00:00:00+00:00", "a parked event ends no trial");
  assertEquals(
    await database.query("select subscription_id, provider_plan_id, reason from billing.parked_events order by id"),
    [
      { subscription_id: "sub_nowhere", provider_plan_id: PLANS.pro, reason: "unknown_organization" },
      { subscription_id: "sub_unlisted", provider_plan_id: "plan_unlisted", reason: "unknown_plan" },
      { subscription_id: null, provider_plan_id: PLANS.pro, reason: "incomplete" },
    ],
  );
  const replay = (args = {}) => database.asService("replay_parked_events", { at: "2026-11-20T13:00:00Z", ...args });
  assertEquals(await replay(), { replayed: 0, parked: 3 });

  await database.query("insert into billing.billing_plans (provider_plan_id, plan) values ('plan_unlisted', 'team')");
  assertEquals(await replay(), { replayed: 1, parked: 2 });
  assertEquals((await planOf(database)).plan, "team");
  await addOrganization(database, { id: "org_000000000008" });
  const bound = { subscription_id: "sub_nowhere", organization_id: "org_000000000008" };
  assertEquals(await replay(bound), { replayed: 1, parked: 1 });
  assertEquals((await planOf(database, "org_000000000008")).plan, "pro");
  assertEquals(await replay(bound), { replayed: 0, parked: 1 });
  await assertRejects(() => replay({ ...bound, organization_id: ORGANIZATION }), Error, "belongs to another");
});

Deno.test("an end needs no listed plan", async () => {
  await addOrganization(database);
  await deliver(database, "subscription.charged", { at: day(1) });
  const verdict = await deliver(database, "subscription.cancelled", { planId: "plan_unlisted", at: day(2) });
  assertEquals(verdict.outcome, "applied");
  assertEquals((await planOf(database)).plan, "free");
});

Deno.test("what was parked counts as soon as a later event says whose it is", async () => {
  await addOrganization(database);
  assertEquals((await deliver(database, "subscription.pending", { at: day(8) })).reason, "unknown_organization");
  assertEquals((await deliver(database, "subscription.charged", { at: day(1) })).outcome, "stale");
  assertEquals(await planOf(database), {
    plan: "pro",
    plan_status: "past_due",
    past_due_since: iso(8),
    trial_ends_at: null,
  });
});

Deno.test("features follow at once, and past due has 7 days of grace", async () => {
  await addOrganization(database);
  const has = async (feature: string, at: Date) => {
    const [row] = await database.query<{ has: boolean }>(
      "select identity.organization_has_feature($1, $2, $3) as has",
      [ORGANIZATION, feature, at.toISOString()],
    );
    return row!.has;
  };
  await deliver(database, "subscription.activated", { planId: PLANS.team, at: day(1) });
  assertEquals(await has("bills:variable", day(1)), true);
  await deliver(database, "subscription.charged", { planId: PLANS.pro, at: day(2) });
  assertEquals([await has("bills:variable", day(2)), await has("ai:connector", day(2))], [false, true]);
  await deliver(database, "subscription.pending", { at: day(10) });
  const graceEnds = day(17).getTime();
  assertEquals(await has("ai:connector", new Date(graceEnds - 1)), true);
  assertEquals(await has("ai:connector", new Date(graceEnds)), false);
  await deliver(database, "subscription.charged", { at: day(18) });
  assertEquals(await has("ai:connector", day(18)), true);
  await deliver(database, "subscription.expired", { at: day(19) });
  assertEquals(await has("ai:connector", day(19)), false);
});

Deno.test("cancellation pauses provider links and deletes nothing; paying again resumes what it paused", async () => {
  await addOrganization(database);
  const statuses = ["pending", "active", "needs_reauth", "paused", "revoked"];
  for (const status of statuses) {
    const [bill] = await database.query<{ id: string }>(
      `insert into app.expenses (id, organization_id, kind, name) values (app.new_id('exp'), $1, 'one_off', $2) returning id`,
      [ORGANIZATION, status],
    );
    await database.query(
      `insert into app.provider_links (organization_id, expense_id, provider_key, account_label, status)
       values ($1, $2, 'generic', $3, $3)`,
      [ORGANIZATION, bill!.id, status],
    );
  }
  const links = async () =>
    Object.fromEntries(
      (await database.query<{ account_label: string; status: string }>(
        "select account_label, status from app.provider_links order by created_at, id",
      )).map(({ account_label, status }) => [account_label, status]),
    );
  const asMade = Object.fromEntries(statuses.map((status) => [status, status]));
  const held = { pending: "paused", active: "paused", needs_reauth: "paused", paused: "paused", revoked: "revoked" };

  await deliver(database, "subscription.charged", { at: day(1) });
  assertEquals(await links(), asMade);
  await deliver(database, "subscription.pending", { at: day(2) });
  assertEquals(await links(), asMade);
  for (
    const [ending, revival] of [["cancelled", "resumed"], ["completed", "pending"], ["expired", "charged"]] as const
  ) {
    const at = 3 + 2 * ["cancelled", "completed", "expired"].indexOf(ending);
    await deliver(database, `subscription.${ending}`, { at: day(at) });
    assertEquals(await links(), held);
    await deliver(database, `subscription.${revival}`, { at: day(at + 1) });
    assertEquals(await links(), asMade);
  }
  assertEquals(await count("app.expenses"), 5);
});

Deno.test("the audit trail says which event changed which plan into which", async () => {
  await addOrganization(database);
  await deliver(database, "subscription.charged", { at: day(1) });
  await deliver(database, "subscription.charged", { at: day(0) });
  assertEquals(await database.query("select at, actor_id, organization_id, event, detail from identity.audit_events"), [
    {
      at: "2026-10-01T00:00:05+00:00",
      actor_id: null,
      organization_id: ORGANIZATION,
      event: "payment.subscription.charged",
      detail: {
        subscription_id: "sub_00000000000001",
        plan: "pro",
        plan_status: "active",
        was: { plan: "team", plan_status: "active" },
      },
    },
  ]);
});

Deno.test("deleting an organization forgets whose its subscriptions were", async () => {
  await addOrganization(database);
  await deliver(database, "subscription.charged", { at: day(1) });
  await database.query("delete from identity.organizations where id = $1", [ORGANIZATION]);
  assertEquals(await deliver(database, "subscription.cancelled", { at: day(2) }), {
    outcome: "parked",
    reason: "unknown_organization",
  });
});
