/** What an organization's plan means for it today, in a sentence, and what it leaves out. */

export interface PlanState {
  plan: "free" | "pro" | "team";
  plan_status: "active" | "past_due" | "canceled";
  /** The plan whose features count now. */
  effective_plan: "free" | "pro" | "team";
  trial_ends_at: string | null;
  grace_ends_at: string | null;
  /** Until when it is paid for; for a plan that has ended, when that was. */
  period_ends_at: string | null;
}

const PLANS = { free: "Free plan", pro: "Pro plan", team: "Team plan" } as const;
const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });
const dayOf = (instant: string) => day.format(new Date(instant));

export function planText(state: PlanState): string {
  const { plan, plan_status, effective_plan, trial_ends_at, grace_ends_at, period_ends_at } = state;
  const hasEnded = effective_plan !== plan;
  if (trial_ends_at) {
    return hasEnded
      ? `Free plan; the ${PLANS[plan]} trial ended on ${dayOf(trial_ends_at)}`
      : `${PLANS[plan]}, free to try until ${dayOf(trial_ends_at)}`;
  }
  if (plan_status === "past_due" && grace_ends_at) {
    return hasEnded
      ? `Free plan; the ${PLANS[plan]} stopped on ${dayOf(grace_ends_at)}, since a payment did not arrive`
      : `${PLANS[plan]}; a payment did not arrive, and it stops on ${dayOf(grace_ends_at)}`;
  }
  if (!period_ends_at) return PLANS[plan];
  return plan_status === "canceled"
    ? `${PLANS[plan]}; the subscription ended on ${dayOf(period_ends_at)}`
    : `${PLANS[plan]}, paid until ${dayOf(period_ends_at)}`;
}

const FEATURES = {
  "ai:connector": "connecting AI assistants",
  "reminders:email": "reminder mails",
  "bills:variable": "amounts from bill providers",
} as const;

/** "Off on this plan: …", or null when nothing is. */
export function offText(features: readonly (keyof typeof FEATURES)[]): string | null {
  return features.length === 0 ? null : `Off on this plan: ${features.map((feature) => FEATURES[feature]).join(", ")}`;
}
