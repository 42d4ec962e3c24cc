/** The transition table: each payment event from every prior state. */
import { assertEquals } from "@std/assert";
import { addOrganization, deliver, planOf, PLANS, resetBilling } from "../_support/billing.ts";
import { database, day, iso, TRIAL_ENDS_AT } from "./billing_database.ts";

Deno.test.beforeAll(() => resetBilling(database));

const RUNNING = { plan: "of the event", plan_status: "active", past_due_since: null };
const FAILING = { plan: "of the event", plan_status: "past_due", past_due_since: "of the event" };
const ENDED = { plan: "free", plan_status: "canceled", past_due_since: null };
/** The complete transition table. */
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

/** Plans that an organization may have besides subscriptions, and whether it could lose them. */
const HOLDERS = {
  "an organization with nothing": { plan: "free", trialEndsAt: null },
  "an organization on trial": { plan: "free", trialEndsAt: TRIAL_ENDS_AT },
  "an organization with a plan set by hand": { plan: "team", trialEndsAt: null },
};

let organizations = 0;

for (const [holder, { plan: plan0, trialEndsAt }] of Object.entries(HOLDERS)) {
  const hasSomething = plan0 !== "free" || trialEndsAt !== null;
  for (const [prior, events] of Object.entries(PRIOR)) {
    for (const [type, next] of Object.entries(NEXT)) {
      for (const [plan, planId] of Object.entries(PLANS)) {
        Deno.test(`${holder}: ${type} of ${plan} when ${prior} leads to its documented state if it counts`, async () => {
          const id = `org_${String(++organizations).padStart(12, "0")}`;
          await addOrganization(database, { id, plan: plan0, trialEndsAt });
          const about = { organizationId: id, planId, subscriptionId: `sub_${organizations}` };
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
}
