/** Words of a digest for the end of an organization's plan. */
import { and } from "../phrases.ts";

type Stopped = "reminders" | "calendar" | "amounts" | "assistants";
type PlanEnding = "trial" | "past_due" | "canceled";
const ENDING: Record<Stopped, (organization: string) => string> = {
  reminders: (organization) => `reminders for ${organization}`,
  calendar: (organization) => `your calendar for ${organization}`,
  amounts: (organization) => `fetching amounts for ${organization}`,
  assistants: (organization) => `assistants’ access to ${organization}`,
};
const STOPS: Record<Stopped, string> = {
  reminders: "we send no reminders",
  calendar: "your calendar app gets no due dates",
  amounts: "no amounts are fetched from bill providers",
  assistants: "assistants can’t read or change anything",
};

export const planEnd = {
  /** @param end.what the first service to stop; reminders if they stop */
  stop: ({ what, organization, when, hasEnded }: {
    what: Stopped;
    organization: string;
    when: string;
    hasEnded: boolean;
  }): string => `${ENDING[what](organization)} ${hasEnded ? "stopped" : "will stop"} ${when}`,
  heading: "When the plan ends",
  headingEnded: "The plan has ended",
  /** The reason and its consequences. @param end.date "Monday, 15 June" */
  why: ({ reason, date, hasEnded }: { reason: PlanEnding; date: string; hasEnded: boolean }): string => ({
    trial: `The trial ${hasEnded ? "ended" : "ends"} on ${date}.`,
    past_due: `A payment failed, so the plan ${hasEnded ? "ended" : "ends"} on ${date}.`,
    canceled: `The subscription ended on ${date}.`,
  }[reason]),
  stops: (stops: Stopped[]): string => `From then on, ${and(stops.map((stop) => STOPS[stop]))}.`,
  keep: "To keep everything running, choose a plan. Nothing is deleted.",
  onlyOwner: ({ owner }: { owner: string }): string =>
    `Only the owner, ${owner}, can choose a plan. Nothing is deleted.`,
  booksStay: "The books still show every due date.",
  dueAfter: "Due after that",
  nothingDue: "Nothing is due in the month after the plan ends.",
  choose: "Choose a plan",
};
