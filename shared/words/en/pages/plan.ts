/** An organization's current plan. Instants are ISO 8601. */
import type { PageFormat } from "../../page_format.ts";

type Plan = "free" | "pro" | "team";

const NAMES: Record<Plan, string> = { free: "Free plan", pro: "Pro plan", team: "Team plan" };

const FEATURES = {
  "ai:connector": "connecting AI assistants",
  "reminders:email": "reminder emails",
  "bills:variable": "amounts from bill providers",
};

export const plan = {
  names: NAMES,
  paidUntil: (plan: Plan, at: string, { date }: PageFormat): string => `${NAMES[plan]}, paid until ${date(at)}`,
  canceled: (plan: Plan, at: string, { date }: PageFormat): string =>
    `${NAMES[plan]}; the subscription ended on ${date(at)}`,
  trial: (until: string, { date }: PageFormat): string => `Team plan, free to try until ${date(until)}`,
  trialOfCanceled: (until: string, ended: string, { date }: PageFormat): string =>
    `Team plan, free to try until ${date(until)}; the subscription ended on ${date(ended)}`,
  trialEnded: (at: string, { date }: PageFormat): string => `Free plan; the Team plan trial ended on ${date(at)}`,
  /** @param paid the text for the plan without a trial */
  paidAndTrial: (paid: string, until: string, { date }: PageFormat): string =>
    `${paid}. Until ${date(until)} everything in the Team plan is free to try`,
  unpaid: (plan: Plan): string => `${NAMES[plan]}; a payment didn’t arrive`,
  unpaidUntil: (plan: Plan, at: string, { date }: PageFormat): string =>
    `${NAMES[plan]}; a payment didn’t arrive, and the plan stops on ${date(at)}`,
  stopped: (plan: Plan, at: string, { date }: PageFormat): string =>
    `Free plan; the ${NAMES[plan]} stopped on ${date(at)} because a payment didn’t arrive`,
  /** For another, past-due subscription that includes more. */
  alsoCounts: (paid: string, plan: Plan, until: string, { date }: PageFormat): string =>
    `${paid}. The ${NAMES[plan]} still applies until ${date(until)}, although its payment didn’t arrive`,
  off: (features: readonly (keyof typeof FEATURES)[]): string =>
    `Not included: ${features.map((feature) => FEATURES[feature]).join(", ")}`,
};
