/** The plan in effect among an organization's subscriptions, its trial and a manually set plan. */
import { assertEquals } from "@std/assert";
import { addOrganization, deliver, ORGANIZATION, planOf, PLANS } from "../_support/billing.ts";
import { count, database, day, resetEachTime, TRIAL_ENDS_AT } from "./billing_database.ts";

resetEachTime();

const effective = async (at: Date) => {
  const [row] = await database.query<{ plan: string }>(
    "select identity.effective_plan(o, $2) as plan from identity.organizations as o where o.id = $1",
    [ORGANIZATION, at.toISOString()],
  );
  return row!.plan;
};

Deno.test("a failed first payment does not end a trial", async () => {
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
  // If set again afterwards, it counts again, unless the organization has ever paid.
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

Deno.test("another subscription never reduces the plan: a grace period counts beside a cheaper plan or an older failure", async () => {
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
  // In the opposite case, the remaining one is past due, but better than none.
  await deliver(database, "subscription.pending", { ...current, at: day(4) });
  assertEquals((await planOf(database)).plan_status, "past_due");
  await deliver(database, "subscription.cancelled", { ...current, at: day(5) });
  assertEquals((await planOf(database)).plan, "free");
});
