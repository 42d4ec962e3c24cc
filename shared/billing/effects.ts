/** The effect of each kind of payment event on its subscription. Kinds not listed have no effect. */

export type SubscriptionStatus = "active" | "past_due" | "canceled";

export interface Effect {
  status: SubscriptionStatus;
  /** Breaks ties between events of the same second; the greater rank wins. */
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
  // The provider documents this as a status, not as an event; handled in case the provider ever sends it.
  ["subscription.expired", { status: "canceled", rank: 9 }],
]);

/** The effect of a kind of event; undefined for `authenticated`, `updated`, `paused` and any other. */
export function effectOf(type: string): Effect | undefined {
  return EFFECTS.get(type);
}
