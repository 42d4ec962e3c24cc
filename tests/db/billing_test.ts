/** The effect of payment events on subscriptions, organizations and provider links. */
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
/** The transition table of the source document. */
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

/** Prior states, by the events that lead to them, one per day. */
const PRIOR: Record<string, string[]> = {
  "new": [],
  "active": ["subscription.charged"],
  "resumed": ["subscription.activated", "subscription.halted", "subscription.resumed"],
  "past due": ["subscription.charged", "subscription.pending"],
  "past due for long": ["subscription.charged", "subscription.pending", "subscription.halted"],
  "past due from the start": ["subscription.pending"],
  "cancelled": ["subscription.charged", "subscription.cancelled"],
  "completed": ["subscription.charged", "subscription.completed"],
  "expired": ["subscription.expired"],
};
const saysActive = (type: string) => NEXT[type] === RUNNING;
const TRIAL_ENDS_AT = "2026-12-01T00:00:00+00:00";

/** Plans an organization may have beside subscriptions, and whether it could lose them. */
const HOLDERS = {
  "an organization with nothing": { plan: "free", trialEndsAt: null },
  "an organization on trial": { plan: "free", trialEndsAt: TRIAL_ENDS_AT },
  "an organization with a plan set by hand": { plan: "team", trialEndsAt: null },
};

for (const [holder, { plan: plan0, trialEndsAt }] of Object.entries(HOLDERS)) {
  const hasSomething = plan0 !== "free" || trialEndsAt !== null;
  Deno.test(`each event, from every prior state of ${holder}, ends in its named state if its subscription counts`, async (t) => {
    let steps = 0;
    for (const [prior, events] of Object.entries(PRIOR)) {
      for (const [type, next] of Object.entries(NEXT)) {
        for (const [plan, planId] of Object.entries(PLANS)) {
          await t.step(`${type} of ${plan} when ${prior}`, async () => {
            const id = `org_${String(++steps).padStart(12, "0")}`;
            await addOrganization(database, { id, plan: plan0, trialEndsAt });
            const about = { organizationId: id, planId, subscriptionId: `sub_${steps}` };
            const counts = (until: number) => !hasSomething || [...events, type].slice(0, until).some(saysActive);
            const verdict = (until: number) => ({
              outcome: "applied" as const,
              organization_id: id,
              ...counts(until) ? {} : { no_effect: "never_active" as const },
            });
            for (const [index, earlier] of events.entries()) {
              assertEquals(await deliver(database, earlier, { ...about, at: day(1 + index) }), verdict(index + 1));
            }
            assertEquals(await deliver(database, type, { ...about, at: day(20) }), verdict(events.length + 1));
            const wasFailing = prior.startsWith("past due");
            const failingSince = wasFailing ? iso(prior === "past due from the start" ? 1 : 2) : iso(20);
            assertEquals(
              await planOf(database, id),
              counts(events.length + 1)
                ? {
                  plan: next.plan === "free" ? "free" : plan,
                  plan_status: next.plan_status,
                  past_due_since: next.past_due_since && failingSince,
                  trial_ends_at: trialEndsAt,
                }
                : { plan: plan0, plan_status: "active", past_due_since: null, trial_ends_at: trialEndsAt },
            );
          });
        }
      }
    }
  });
}

const has = async (feature: string, at: Date) => {
  const [row] = await database.query<{ has: boolean }>(
    "select identity.organization_has_feature($1, $2, $3) as has",
    [ORGANIZATION, feature, at.toISOString()],
  );
  return row!.has;
};
const effective = async (at: Date) => {
  const [row] = await database.query<{ plan: string }>(
    "select identity.effective_plan(o, $2) as plan from identity.organizations as o where o.id = $1",
    [ORGANIZATION, at.toISOString()],
  );
  return row!.plan;
};

Deno.test("a payment that never happened ends no trial", async () => {
  await addOrganization(database);
  const onTrial = await planOf(database);
  const stranger = { organizationId: ORGANIZATION, subscriptionId: "sub_stranger" };
  const noEffect = { outcome: "applied", organization_id: ORGANIZATION, no_effect: "never_active" };
  for (const [index, type] of ["pending", "halted", "cancelled", "completed", "expired"].entries()) {
    assertEquals(await deliver(database, `subscription.${type}`, { ...stranger, at: day(1 + index) }), noEffect);
    assertEquals([await planOf(database), await effective(day(6))], [onTrial, "team"]);
  }
  assertEquals(
    await database.query("select type, outcome, no_effect from billing.payment_events order by id"),
    ["pending", "halted", "cancelled", "completed", "expired"].map((type) => ({
      type: `subscription.${type}`,
      outcome: "applied",
      no_effect: "never_active",
    })),
  );
  assertEquals(await count("identity.audit_events"), 0);
});

Deno.test("a cheaper plan bought, failed or cancelled during a trial does not shorten it", async () => {
  await addOrganization(database);
  const trialEnd = new Date(TRIAL_ENDS_AT).getTime();
  for (
    const [index, [type, stored, afterwards]] of ([
      ["activated", "pro", "pro"],
      ["pending", "pro", "free"],
      ["charged", "pro", "pro"],
      ["cancelled", "free", "free"],
    ] as const).entries()
  ) {
    await deliver(database, `subscription.${type}`, {
      organizationId: ORGANIZATION,
      planId: PLANS.pro,
      at: day(1 + index),
    });
    const { plan, trial_ends_at } = await planOf(database);
    assertEquals([plan, trial_ends_at], [stored, TRIAL_ENDS_AT], type);
    assertEquals(await effective(new Date(trialEnd - 1)), "team", type);
    assertEquals(await effective(new Date(trialEnd)), afterwards, type);
  }
});

Deno.test("a manually set plan counts until the first subscription that was ever active, even one that has ended", async () => {
  await addOrganization(database, { plan: "team", trialEndsAt: null });
  const bought = { organizationId: ORGANIZATION, planId: PLANS.pro };
  await deliver(database, "subscription.cancelled", { ...bought, at: day(5) });
  assertEquals((await planOf(database)).plan, "team");
  const late = await deliver(database, "subscription.activated", { ...bought, at: day(1) });
  assertEquals(late, { outcome: "stale", organization_id: ORGANIZATION });
  assertEquals(await planOf(database), {
    plan: "free",
    plan_status: "canceled",
    past_due_since: null,
    trial_ends_at: null,
  });
  // Set again afterwards it counts again, unless the organization has ever paid.
  await database.query("update identity.organizations set plan = 'team', plan_status = 'active'");
  await deliver(database, "subscription.expired", {
    organizationId: ORGANIZATION,
    subscriptionId: "sub_stranger",
    at: day(6),
  });
  await deliver(database, "subscription.resumed", { ...bought, at: day(0) });
  assertEquals((await planOf(database)).plan, "team");
  await deliver(database, "subscription.completed", { ...bought, at: day(7) });
  assertEquals((await planOf(database)).plan, "free");
});

Deno.test("a subscription that was never active does not count beside a live one", async () => {
  await addOrganization(database, { trialEndsAt: null });
  await deliver(database, "subscription.charged", { organizationId: ORGANIZATION, at: day(1) });
  await deliver(database, "subscription.pending", { at: day(2) });
  const before = await planOf(database);
  const other = { organizationId: ORGANIZATION, subscriptionId: "sub_other", planId: PLANS.team };
  for (const type of ["pending", "cancelled"]) {
    assertEquals((await deliver(database, `subscription.${type}`, { ...other, at: day(3) })).no_effect, "never_active");
    assertEquals(await planOf(database), before);
  }
});

Deno.test("another subscription never reduces the plan: a grace period counts beside a cheaper plan, and beside an older failure", async () => {
  await addOrganization(database, { trialEndsAt: null });
  const own = { organizationId: ORGANIZATION, subscriptionId: "sub_own", planId: PLANS.team };
  const stranger = { organizationId: ORGANIZATION, subscriptionId: "sub_stranger", planId: PLANS.pro };
  await deliver(database, "subscription.charged", { ...own, at: day(1) });
  await deliver(database, "subscription.pending", { ...own, at: day(2) });
  await deliver(database, "subscription.activated", { ...stranger, at: day(3) });
  assertEquals((await planOf(database)).plan, "pro");
  assertEquals([await effective(day(8)), await effective(day(9))], ["team", "pro"]);
  await deliver(database, "subscription.pending", { ...stranger, at: day(6) });
  assertEquals((await planOf(database)).plan, "team");
  assertEquals([await effective(day(8)), await effective(day(12)), await effective(day(13))], ["team", "pro", "free"]);
  await deliver(database, "subscription.cancelled", { ...stranger, at: day(7) });
  assertEquals([await effective(day(8)), await effective(day(9))], ["team", "free"]);
});

Deno.test("each plan includes everything of the one before it", async () => {
  const [row] = await database.query<{ free: string[] | null; missing: number }>(
    `select array_agg(f.feature) filter (where f.plan = 'free') as free,
       count(*) filter (where f.plan = 'pro' and not exists (
         select from billing.plan_features as t where t.plan = 'team' and t.feature = f.feature))::int as missing
     from billing.plan_features as f`,
  );
  assertEquals(row, { free: null, missing: 0 });
});

Deno.test("events without effect are recorded and change nothing", async () => {
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

Deno.test("the body tells a duplicate, not a header that nobody signed", async () => {
  await addOrganization(database);
  const charged = { at: day(1), eventId: "evt_1" };
  assertEquals((await deliver(database, "subscription.charged", charged)).outcome, "applied");
  for (const eventId of ["evt_1", "evt_2", null]) {
    assertEquals((await deliver(database, "subscription.charged", { ...charged, eventId })).outcome, "duplicate");
  }
  // A different body under a known id is a different event.
  assertEquals((await deliver(database, "subscription.halted", { at: day(2), eventId: "evt_1" })).outcome, "applied");
  assertEquals(await database.query("select type, event_id from billing.payment_events order by id"), [
    { type: "subscription.charged", event_id: "evt_1" },
    { type: "subscription.halted", event_id: "evt_1" },
  ]);
  assertEquals(await count("identity.audit_events"), 2);
});

Deno.test("an event of 2100 is parked until its day and makes none stale; a day ahead is no lie", async () => {
  await addOrganization(database, { trialEndsAt: null });
  const ahead = new Date(Date.UTC(2100, 0, 1));
  const lie = { organizationId: ORGANIZATION, at: ahead, receivedAt: day(1) };
  assertEquals(await deliver(database, "subscription.cancelled", lie), { outcome: "parked", reason: "dated_ahead" });
  assertEquals(await database.query("select type, reason from billing.parked_events"), [
    { type: "subscription.cancelled", reason: "dated_ahead" },
  ]);
  assertEquals(await count("billing.subscriptions where organization_id is not null"), 0, "it binds nothing");
  const charged = { organizationId: ORGANIZATION, at: day(2), receivedAt: day(1) };
  assertEquals((await deliver(database, "subscription.charged", charged)).outcome, "applied");
  assertEquals((await deliver(database, "subscription.pending", { at: day(3) })).outcome, "applied");

  const replay = (at: Date) => database.asService("replay_parked_events", { at: at.toISOString() });
  const dayBefore = new Date(ahead.getTime() - 24 * 3600_000);
  assertEquals(await replay(new Date(dayBefore.getTime() - 1)), { replayed: 0, parked: 1 });
  assertEquals((await planOf(database)).plan_status, "past_due");
  assertEquals(await replay(dayBefore), { replayed: 1, parked: 0 });
  assertEquals((await planOf(database)).plan_status, "canceled");
});

Deno.test("a late event is stale: an ended subscription stays ended, a later payment revives it", async () => {
  await addOrganization(database, { trialEndsAt: null });
  assertEquals((await deliver(database, "subscription.cancelled", { at: day(10) })).outcome, "applied");
  assertEquals((await deliver(database, "subscription.charged", { at: day(9) })).outcome, "stale");
  assertEquals((await deliver(database, "subscription.charged", { at: day(10) })).outcome, "stale", "a tie");
  assertEquals((await planOf(database)).plan, "free");
  assertEquals((await deliver(database, "subscription.resumed", { at: day(11) })).outcome, "applied");
  assertEquals((await planOf(database)).plan, "pro");
});

Deno.test("past due counts from the first failure since the last payment, in any order of arrival", async () => {
  await addOrganization(database, { trialEndsAt: null });
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

Deno.test("a failure reported late counts from the day before, so that the grace period is not over yet", async () => {
  await addOrganization(database, { trialEndsAt: null });
  const pending = { organizationId: ORGANIZATION, at: day(1) };
  await deliver(database, "subscription.pending", { ...pending, receivedAt: day(11) });
  assertEquals((await planOf(database)).past_due_since, iso(10));
});

Deno.test("the end of an old subscription leaves a paying organization paid", async () => {
  await addOrganization(database, { trialEndsAt: null });
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
  // The other way round: what remains is past due, and better than nothing.
  await deliver(database, "subscription.pending", { ...current, at: day(4) });
  assertEquals((await planOf(database)).plan_status, "past_due");
  await deliver(database, "subscription.cancelled", { ...current, at: day(5) });
  assertEquals((await planOf(database)).plan, "free");
});

Deno.test("a subscription is bound permanently by the first event that names an organization", async () => {
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

Deno.test("events of an unknown organization or plan are parked, are visible, and apply once it is known", async () => {
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
  assertEquals((await planOf(database)).trial_ends_at, "2026-12-01T00:00:00+00:00", "a parked event changes nothing");
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

Deno.test("a cancellation needs no listed plan", async () => {
  await addOrganization(database);
  await deliver(database, "subscription.charged", { at: day(1) });
  const verdict = await deliver(database, "subscription.cancelled", { planId: "plan_unlisted", at: day(2) });
  assertEquals(verdict.outcome, "applied");
  assertEquals((await planOf(database)).plan, "free");
});

Deno.test("parked events apply as soon as a later event names the organization", async () => {
  await addOrganization(database, { trialEndsAt: null });
  assertEquals((await deliver(database, "subscription.pending", { at: day(8) })).reason, "unknown_organization");
  const late = await deliver(database, "subscription.charged", { at: day(1), receivedAt: day(9) });
  assertEquals(late.outcome, "stale");
  assertEquals(await planOf(database), {
    plan: "pro",
    plan_status: "past_due",
    past_due_since: iso(8),
    trial_ends_at: null,
  });
});

Deno.test("features change at once, and past due has 7 days of grace", async () => {
  await addOrganization(database, { trialEndsAt: null });
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

Deno.test("cancellation pauses provider links and deletes nothing; paying again resumes them", async () => {
  await addOrganization(database, { trialEndsAt: null });
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

  // The end of another subscription does not take away the trial's features.
  await database.query("update identity.organizations set trial_ends_at = $1", [TRIAL_ENDS_AT]);
  await deliver(database, "subscription.cancelled", { at: day(9) });
  assertEquals(await links(), asMade);
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
        was: { plan: "free", plan_status: "active" },
      },
    },
  ]);
});

Deno.test("deleting an organization unlinks its subscriptions", async () => {
  await addOrganization(database);
  await deliver(database, "subscription.charged", { at: day(1) });
  await database.query("delete from identity.organizations where id = $1", [ORGANIZATION]);
  assertEquals(await deliver(database, "subscription.cancelled", { at: day(2) }), {
    outcome: "parked",
    reason: "unknown_organization",
  });
});
