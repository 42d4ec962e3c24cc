/** @jsxImportSource hono/jsx */
/** The form between the first sign-in and the account. */
import type { Child } from "hono/jsx";

export const onboarding = {
  title: "A few things before we start",
  lead: "We filled in what we could guess. Change anything that’s wrong.",
  problems: "Nothing was saved yet. Check what’s marked below.",
  /** The initial name of a first organization. */
  personal: "Personal",
  country: "Country",
  countryReason: "Sets how dates look, and suggests a currency and time zone.",
  organization: "Name of your organization",
  organizationReason:
    "Whose expenses are these? Yours, your household’s, a business’s. You see it when you connect an assistant.",
  timezone: "Time zone",
  timezoneReason: "So that reminders come on the right day, and “yesterday” means your yesterday.",
  currency: "Main currency",
  currencyReason: "Totals are shown in this currency. Every expense keeps the currency it was paid in.",
  email: "Email for reminders",
  emailReason:
    "Where we tell you what’s due. If it isn’t the address you signed in with, we’ll send it a link to confirm first.",
  start: "Start",
  signedInAs: (address: Child) => <>Signed in as {address}.</>,
  notYou: "Not you?",
  chooseCountry: "Choose a country.",
  nameTooLong: "Use at most 120 characters.",
  chooseTimezone: "Choose a time zone from the list.",
  notAnAddress: "That’s not an email address. Check it for typos.",
  notInList: "We don’t know this one. Choose another from the list.",
};
