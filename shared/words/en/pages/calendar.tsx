/** @jsxImportSource hono/jsx */
/** Calendars: on the account page, beside a new address, and in the file that an app reads. */
import type { Child } from "hono/jsx";
import { count } from "../phrases.ts";

export const calendars = {
  lead: "See what’s due in your own calendar app. It needs an address that only you know.",
  create: "Get an address",
  showAmounts: "Show amounts",
  hideAmounts: "Hide amounts",
  end: "Turn off",
  /** The accessible name of a button. */
  labelOf: (action: string, organization: string): string => `${action}: ${organization}`,
  noAddress: "No address yet",
  since: (day: Child) => <>Address created on {day}</>,
  withAmounts: "with amounts",
  withoutAmounts: "without amounts",
  stopped: "The plan doesn’t include calendars now, so the address doesn’t work.",
  notInPlan: "The plan doesn’t include calendars.",
};

export const calendarCreated = {
  title: "Your calendar’s address",
  lead: "Copy it now: we don’t keep it, so we can’t show it again.",
  how: "In your calendar app, subscribe to a calendar by URL and paste the address. It shows overdue bills " +
    "and bills due in the next 12 months. To add amounts, choose “Show amounts” on your account page.",
  secret:
    "Anyone who has the address can see your bills. If others might have it, turn the calendar off on your account page.",
};

export const calendarFeed = {
  name: (organization: string): string => `${organization}: bills`,
  due: (bill: string, amount?: string): string => `Due: ${bill}${amount ? `, ${amount}` : ""}`,
  autopay: (bill: string, amount?: string): string => `Paid automatically: ${bill}${amount ? `, ${amount}` : ""}`,
  several: (bill: string, times: number): string => `${bill} (${count(times, "time")})`,
  about: (amount: string): string => `about ${amount}`,
  cut: (day: string): string => `Not everything fits: bills due after ${day} are missing for now.`,
};
