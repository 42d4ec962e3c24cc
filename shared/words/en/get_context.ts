/** Words of `get_context`. */
import { and } from "./phrases.ts";

interface PlanEnding {
  plan: string;
  ends_on: string;
  organization: string;
  features: Feature[];
}

type Feature = "ai:connector" | "reminders:email" | "bills:variable";

/** Plan features by their familiar names. */
const FEATURES: Record<Feature, string> = {
  "ai:connector": "access for AI assistants",
  "reminders:email": "reminder emails",
  "bills:variable": "amounts from bill providers",
};

const capitalized = (word: string) => word[0]!.toUpperCase() + word.slice(1);
const listed = (features: Feature[]) => and(features.map((feature) => FEATURES[feature]));

export const warnings = {
  "balances_hidden": (): string =>
    "A balance contains payments that this person may not see, so accounts lists only balances that they stated or " +
    "imported themselves.",
  "plan_ending.trial": ({ plan, ends_on, organization, features }: PlanEnding): string =>
    `The trial of the ${capitalized(plan)} plan ends on ${ends_on}. From then on ${organization} is without ${
      listed(features)
    } until its owner chooses a plan that includes them.`,
  "plan_ending.past_due": ({ plan, ends_on, organization, features }: PlanEnding): string =>
    `A payment for the ${capitalized(plan)} plan did not arrive. Unless one does by ${ends_on}, ${organization} ` +
    `loses ${listed(features)}.`,
  "plan_ending.canceled": ({ ends_on, organization, features }: PlanEnding): string =>
    `The subscription was cancelled. From ${ends_on} on, ${organization} loses ${listed(features)}.`,
};
