/** Selects the sentence that describes an organization's current plan. */
import type { PageFormat } from "../../../shared/words/page_format.ts";
import type { PageWords } from "../../../shared/words/page_words.ts";

type Plan = "free" | "pro" | "team";

export interface PlanState {
  /** The paid or manually set plan. */
  plan: Plan;
  plan_status: "active" | "past_due" | "canceled";
  /** The plan whose features currently apply. */
  effective_plan: Plan;
  /** When the trial ends or ended; null without a trial. */
  trial_ends_at: string | null;
  is_trial: boolean;
  grace_ends_at: string | null;
  /** The plan of another, past-due subscription that includes more or lasts longer. */
  second_plan: Plan | null;
  second_grace_ends_at: string | null;
  /** The end of the paid period, in the past if the plan has ended. */
  period_ends_at: string | null;
}

interface Reading {
  words: PageWords["plan"];
  format: PageFormat;
}

export function planText(state: PlanState, reading: Reading): string {
  const { plan, plan_status, trial_ends_at, is_trial, period_ends_at } = state;
  const { words, format } = reading;
  if (!trial_ends_at || (plan === "team" && plan_status === "active")) return paidText(state, reading);
  if (!is_trial) {
    return plan === "free" && plan_status === "active"
      ? words.trialEnded(trial_ends_at, format)
      : paidText(state, reading);
  }
  if (plan !== "free") {
    // The trial includes everything that the grace period would.
    const paid = plan_status === "past_due" ? words.unpaid(plan) : paidText({ ...state, second_plan: null }, reading);
    return words.paidAndTrial(paid, trial_ends_at, format);
  }
  return plan_status === "canceled" && period_ends_at
    ? words.trialOfCanceled(trial_ends_at, period_ends_at, format)
    : words.trial(trial_ends_at, format);
}

function paidText(state: PlanState, { words, format }: Reading): string {
  const { plan, plan_status, effective_plan, grace_ends_at, second_plan, second_grace_ends_at, period_ends_at } = state;
  const second = effective_plan === second_plan && second_plan !== plan ? second_grace_ends_at : null;
  if (plan_status === "past_due" && grace_ends_at) {
    return effective_plan === "free"
      ? words.stopped(plan, grace_ends_at, format)
      : words.unpaidUntil(effective_plan, second ?? grace_ends_at, format);
  }
  const paid = !period_ends_at
    ? words.names[plan]
    : plan_status === "canceled"
    ? words.canceled(plan, period_ends_at, format)
    : words.paidUntil(plan, period_ends_at, format);
  return second ? words.alsoCounts(paid, effective_plan, second, format) : paid;
}
