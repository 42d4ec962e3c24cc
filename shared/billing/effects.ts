/** What each kind of payment event means for its subscription. Kinds that are not here mean nothing to us. */

export type SubscriptionStatus = "active" | "past_due" | "canceled";

export interface Effect {
  status: SubscriptionStatus;
  /** Orders two events of the same second that agree in everything else; the greater one counts. */
  rank: number;
}

const EFFECTS: ReadonlyMap<string, Effect> = new Map([
  ["subscription.activated", { status: "active", rank: 1 }],
  ["subscription.resumed", { status: "active", rank: 1 }],
  ["subscription.charged", { status: "active", rank: 2 }],
  ["subscription.pending", { status: "past_due", rank: 3 }],
  ["subscription.halted", { status: "past_due", rank: 4 }],
  ["subscription.cancelled", { status: "canceled", rank: 9 }],
  ["subscription.completed", { status: "canceled", rank: 9 }],
  // Only a status in the provider's documents, never an event; should one arrive, it means what it says.
  ["subscription.expired", { status: "canceled", rank: 9 }],
]);

/** The effect of a kind of event, undefined for `authenticated`, `updated`, `paused` and whatever else is sent. */
export function effectOf(type: string): Effect | undefined {
  return EFFECTS.get(type);
}
