/** @jsxImportSource hono/jsx */
/** The page of an organization's plan: its features, its price, and the one next step. */
import type { Child } from "hono/jsx";
import type { PageFormat } from "../../page_format.ts";

const STAYS = "Nothing is deleted: you can still sign in and export everything here.";

export const planPage = {
  title: "Plan",
  heading: (organization: Child) => <>Plan of {organization}</>,
  /** The next step and its reason. */
  next: {
    trial: (until: string, { date }: PageFormat): string =>
      `Your trial ends on ${date(until)}. After that, assistants can’t read or change anything here and no reminders ` +
      `are sent until you choose a plan. ${STAYS}`,
    /** The paid plan continues, with fewer features. */
    trialOfPaid: (until: string, plan: string, { date }: PageFormat): string =>
      `On ${date(until)} the trial of the Team plan ends, and the ${plan} continues.`,
    trialEnded:
      `Your trial has ended. Choose a plan to use your assistant and get reminders again: everything continues where it left off. ${STAYS}`,
    free: `Choose a plan to use your assistant and get reminders: everything continues where it left off. ${STAYS}`,
    pastDue: (at: string, { date }: PageFormat): string =>
      `A payment didn’t arrive. Pay by ${date(at)} to keep the plan. ${STAYS}`,
    stopped: `The plan stopped because a payment didn’t arrive. Pay, or choose a plan again, and everything ` +
      `continues where it left off. ${STAYS}`,
  },
  plans: "What each plan includes",
  current: "Your plan",
  freeIncludes: "Sign in, and export or delete everything",
  everythingOf: (plan: string): string => `Everything in the ${plan}, plus:`,
  features: {
    "ai:connector": "AI assistants, import and calendar",
    "reminders:email": "Reminder emails",
    "bills:variable": "Amounts fetched from bill providers",
  },
  invitations: "People you invite: managers, members and viewers",
  free: "Free",
  choose: (plan: string): string => `Choose the ${plan}`,
  seePlans: "See plans and prices",
  onlyOwner: (owner: Child) => <>Only the owner, {owner}, can change the plan.</>,
  paying: "Invoices and cancelling",
  invoices: "See your invoices",
  cancel: "Cancel the plan",
  cancelMeans:
    "Cancelling deletes nothing: you can still export everything. If you choose a plan later, everything continues where it left off.",
  askContact: (contact: (text: string) => Child) => (
    <>For invoices, or to change or cancel the plan, {contact("contact us")}.</>
  ),
  askOperator: "For invoices, or to change or cancel the plan, ask the operator of this service.",
};
