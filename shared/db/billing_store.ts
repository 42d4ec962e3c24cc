/** The webhook's calls to the database: one per event. */
import * as z from "zod/mini";
import { outcome } from "../outcome.ts";
import type { PaymentEvent } from "../billing/event.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";

/** `stale`: a later event of the subscription has already taken effect. `parked`: waits for an operator. */
const Verdict = outcome(["applied", "duplicate", "stale", "ignored", "parked"], {
  organization_id: z.optional(z.string()),
  /**
   * Why an applied event changed nothing: its subscription was never paid, and the change would have cost the
   * organization a plan.
   */
  no_effect: z.optional(z.literal("never_active")),
  /** Why the event is parked; `other_organization` when its notes name an organization other than its own. */
  reason: z.optional(
    z.enum(["incomplete", "dated_ahead", "unknown_organization", "unknown_plan", "other_organization"]),
  ),
});
export type Verdict = z.infer<typeof Verdict>;

/** The payment provider waits 5 s for a response; this leaves a second for everything else. */
const DEADLINE_MS = 4_000;

export const ANSWERS = { apply_payment_event: Verdict };

export function createBillingStore(database: Database) {
  return {
    /**
     * Applies one verified event, in one transaction.
     * @param delivery `bodyHash` is the hex SHA-256 of the body, which identifies a duplicate; `eventId` is the
     * provider's id, stored for reference.
     * @throws what `Database.call` throws, also for a malformed result. A repeated delivery then counts once.
     */
    applyPaymentEvent(
      event: PaymentEvent,
      delivery: { bodyHash: string; eventId: string | null; at: Date },
    ): Promise<Verdict> {
      return asking(database, ANSWERS)("apply_payment_event", {
        event: {
          type: event.type,
          status: event.status,
          rank: event.rank,
          subscription_id: event.subscriptionId,
          provider_plan_id: event.providerPlanId,
          organization_id: event.organizationId,
          occurred_at: event.occurredAt,
          period_ends_at: event.periodEndsAt,
          paid_count: event.paidCount,
          auth_attempts: event.authAttempts,
        },
        body_hash: delivery.bodyHash,
        event_id: delivery.eventId,
        at: delivery.at,
      }, { deadlineMs: DEADLINE_MS });
    },
  };
}
