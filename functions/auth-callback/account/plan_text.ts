/** What an organization's plan means for it today, in a sentence, and what it leaves out. */

type Plan = "free" | "pro" | "team";

export interface PlanState {
  /** What is paid for, or was set by hand. */
  plan: Plan;
  plan_status: "active" | "past_due" | "canceled";
  /** The plan whose features count now. */
  effective_plan: Plan;
  /** When the trial ends or ended; null when there never was one. */
  trial_ends_at: string | null;
  is_trial: boolean;
  grace_ends_at: string | null;
  /** Of another subscription, past due, that includes more or lasts longer. */
  second_plan: Plan | null;
  second_grace_ends_at: string | null;
  /** Until when it is paid for; for a plan that has ended, when that was. */
  period_ends_at: string | null;
}

const PLANS = { free: "Free plan", pro: "Pro plan", team: "Team plan" } as const;
const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });
const dayOf = (instant: string) => day.format(new Date(instant));

export function planText(state: PlanState): string {
  const { plan, plan_status, trial_ends_at, is_trial, period_ends_at } = state;
  if (!trial_ends_at || (plan === "team" && plan_status === "active")) return paidText(state);
  const trialEnd = dayOf(trial_ends_at);
  if (!is_trial) {
    return plan === "free" && plan_status === "active"
      ? `Free plan; the Team plan trial ended on ${trialEnd}`
      : paidText(state);
  }
  if (plan !== "free") {
    // What a grace period gives, the trial gives too.
    const paid = plan_status === "past_due"
      ? `${PLANS[plan]}; a payment did not arrive`
      : paidText({ ...state, second_plan: null });
    return `${paid}. Until ${trialEnd} everything of the Team plan is free to try`;
  }
  const trial = `Team plan, free to try until ${trialEnd}`;
  return plan_status === "canceled" && period_ends_at
    ? `${trial}; the subscription ended on ${dayOf(period_ends_at)}`
    : trial;
}

/** The same without a trial. */
function paidText(state: PlanState): string {
  const { plan, plan_status, effective_plan, grace_ends_at, second_plan, second_grace_ends_at, period_ends_at } = state;
  const second = effective_plan === second_plan && second_plan !== plan ? second_grace_ends_at : null;
  if (plan_status === "past_due" && grace_ends_at) {
    return effective_plan === "free"
      ? `Free plan; the ${PLANS[plan]} stopped on ${dayOf(grace_ends_at)}, since a payment did not arrive`
      : `${PLANS[effective_plan]}; a payment did not arrive, and it stops on ${dayOf(second ?? grace_ends_at)}`;
  }
  const end = plan_status === "canceled" ? "; the subscription ended on " : ", paid until ";
  const paid = PLANS[plan] + (period_ends_at ? end + dayOf(period_ends_at) : "");
  return second
    ? `${paid}. Until ${dayOf(second)} the ${PLANS[effective_plan]} counts too: its payment did not arrive`
    : paid;
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
