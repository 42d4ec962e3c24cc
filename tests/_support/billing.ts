/** Organizations, plans and payment events in a test database. */
import { type AboutEvent, paymentEvent } from "../../local/payment_event.ts";
import { parseEvent } from "../../shared/billing/event.ts";
import { createBillingStore, type Verdict } from "../../shared/db/billing_store.ts";
import type { TestDatabase } from "./database.ts";

/** The payment provider's plans; the first is the one in the samples. */
export const PLANS = { pro: "plan_00000000000001", team: "plan_00000000000002" };
/** The organization in the samples. */
export const ORGANIZATION = "org_000000000001";
const OWNER = "00000000-0000-4000-8000-000000000001";

/** The organization's state after the payment provider's events. */
export interface PlanState {
  plan: string;
  plan_status: string;
  past_due_since: string | null;
  trial_ends_at: string | null;
}

/** Empties the database, then adds a person and the plans. */
export async function resetBilling(database: TestDatabase): Promise<void> {
  await database.reset();
  await database.query("insert into auth.users (id, email) values ($1, 'owner@example.com')", [OWNER]);
  await database.query("insert into identity.profiles (user_id, email) values ($1, 'owner@example.com')", [OWNER]);
  await database.query("insert into billing.billing_plans (provider_plan_id, plan) values ($1, 'pro'), ($2, 'team')", [
    PLANS.pro,
    PLANS.team,
  ]);
}

/** An organization as onboarding creates it, on trial by default. */
export async function addOrganization(
  database: TestDatabase,
  { id = ORGANIZATION, plan = "free", trialEndsAt = "2026-12-01T00:00:00Z" }: {
    id?: string;
    plan?: string;
    trialEndsAt?: string | null;
  } = {},
): Promise<void> {
  await database.query(
    `insert into identity.organizations (id, name, base_currency, plan, trial_ends_at, owner_id)
     values ($1, 'Household', 'EUR', $2, $3, $4)`,
    [id, plan, trialEndsAt, OWNER],
  );
}

/** Delivers the documented sample of an event, as the webhook does after verifying it. */
export async function deliver(
  database: TestDatabase,
  type: string,
  { eventId = null, receivedAt, ...about }: AboutEvent & {
    eventId?: string | null;
    /** Defaults to a few seconds after the event. */
    receivedAt?: Date;
  },
): Promise<Verdict> {
  const body = new TextEncoder().encode(JSON.stringify(await paymentEvent(type, about)));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", body));
  const bodyHash = Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const store = createBillingStore({ call: (name, args) => database.asService(name, args) });
  const event = parseEvent(body)!;
  const at = receivedAt ?? new Date((event.occurredAt?.getTime() ?? 0) + 5_000);
  return await store.applyPaymentEvent(event, { bodyHash, eventId, at });
}

export async function planOf(database: TestDatabase, id = ORGANIZATION): Promise<PlanState> {
  const [state] = await database.query<PlanState>(
    "select plan, plan_status, past_due_since, trial_ends_at from identity.organizations where id = $1",
    [id],
  );
  return state!;
}
