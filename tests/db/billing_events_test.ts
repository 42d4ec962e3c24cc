/** Repeated, late and ineffective payment events: their changes, the first day of each change, and the stored rows. */
import { assertEquals } from "@std/assert";
import { addOrganization, deliver, ORGANIZATION, planOf } from "../_support/billing.ts";
import { count, database, day, iso, resetEachTime } from "./billing_database.ts";

resetEachTime();

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

Deno.test("the body identifies a duplicate, not the unsigned header", async () => {
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

Deno.test("a failure reported late counts from the previous day, so the grace period has not ended yet", async () => {
  await addOrganization(database, { trialEndsAt: null });
  const pending = { organizationId: ORGANIZATION, at: day(1) };
  await deliver(database, "subscription.pending", { ...pending, receivedAt: day(11) });
  assertEquals((await planOf(database)).past_due_since, iso(10));
});

Deno.test("a cancellation needs no listed plan", async () => {
  await addOrganization(database);
  await deliver(database, "subscription.charged", { at: day(1) });
  const verdict = await deliver(database, "subscription.cancelled", { planId: "plan_unlisted", at: day(2) });
  assertEquals(verdict.outcome, "applied");
  assertEquals((await planOf(database)).plan, "free");
});

Deno.test("the audit trail records each plan change with its event", async () => {
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
