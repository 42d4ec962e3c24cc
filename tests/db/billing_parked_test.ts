/** The organization of a subscription, and events that are parked until organization, plan or day is known. */
import { assertEquals, assertRejects } from "@std/assert";
import { addOrganization, deliver, ORGANIZATION, planOf, PLANS } from "../_support/billing.ts";
import { count, database, day, iso, resetEachTime } from "./billing_database.ts";

resetEachTime();

Deno.test("a far-future event is parked and doesn't outdate others; minutes of skew are accepted", async () => {
  await addOrganization(database, { trialEndsAt: null });
  const ahead = new Date(Date.UTC(2100, 0, 1));
  const lie = { organizationId: ORGANIZATION, at: ahead, receivedAt: day(1) };
  assertEquals(await deliver(database, "subscription.cancelled", lie), { outcome: "parked", reason: "dated_ahead" });
  assertEquals(await database.query("select type, reason from billing.parked_events"), [
    { type: "subscription.cancelled", reason: "dated_ahead" },
  ]);
  assertEquals(await count("billing.subscriptions where organization_id is not null"), 0, "it binds nothing");
  // Includes an event a day ahead: today's payment counts, but the future one doesn't.
  const tomorrow = { organizationId: ORGANIZATION, at: day(2), receivedAt: day(1) };
  assertEquals(await deliver(database, "subscription.pending", tomorrow), { outcome: "parked", reason: "dated_ahead" });
  const ahead5 = new Date(day(1).getTime() + 300_000);
  const charged = { organizationId: ORGANIZATION, at: ahead5, receivedAt: day(1) };
  assertEquals((await deliver(database, "subscription.charged", charged)).outcome, "applied");
  assertEquals((await deliver(database, "subscription.pending", { at: day(3) })).outcome, "applied");

  const replay = (at: Date) => database.asService("replay_parked_events", { at: at.toISOString() });
  const before = new Date(ahead.getTime() - 300_000);
  assertEquals(await replay(new Date(before.getTime() - 1)), { replayed: 0, parked: 1 });
  assertEquals((await planOf(database)).plan_status, "past_due");
  assertEquals(await replay(before), { replayed: 1, parked: 0 });
  assertEquals((await planOf(database)).plan_status, "canceled");
});

Deno.test("the schedule applies an event that a lagging clock parked", async () => {
  await addOrganization(database, { trialEndsAt: null });
  const [receivedAt, at] = [new Date(Date.now() - 1_200_000), new Date(Date.now() - 600_000)];
  const charged = { organizationId: ORGANIZATION, at, receivedAt };
  assertEquals((await deliver(database, "subscription.charged", charged)).reason, "dated_ahead");
  const [job] = await database.query<{ command: string }>(
    "select command from cron.job where jobname = 'replay-payment-events'",
  );
  await database.query(job!.command);
  assertEquals((await planOf(database)).plan_status, "active");
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
  // Without notes, its row identifies it.
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

Deno.test("deleting an organization unlinks its subscriptions", async () => {
  await addOrganization(database);
  await deliver(database, "subscription.charged", { at: day(1) });
  await database.query("delete from identity.organizations where id = $1", [ORGANIZATION]);
  assertEquals(await deliver(database, "subscription.cancelled", { at: day(2) }), {
    outcome: "parked",
    reason: "unknown_organization",
  });
});
