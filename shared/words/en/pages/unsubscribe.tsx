/** @jsxImportSource hono/jsx */
/** The page behind the links in reminder mails. */
import type { Child } from "hono/jsx";

export const unsubscribe = {
  title: "Unsubscribe",
  question: "Stop reminder emails?",
  leadOne: (organization: Child) => (
    <>
      They tell you about due and overdue bills in <strong>{organization}</strong>. Your bills stay as they are.
    </>
  ),
  leadMany: "They tell you about due and overdue bills in your organizations. Your bills stay as they are.",
  which: "Which ones",
  all: "All of them",
  oneBill: "Only one bill",
  unsubscribe: "Unsubscribe",
  signInToChoose: (link: (text: string) => Child) => <>Only one bill? {link("Sign in to choose it")}.</>,
  off: "Reminder emails are off",
  offLead: "You won’t get any.",
  backOn: (link: (text: string) => Child) => <>Changed your mind? {link("Turn them back on in your account")}.</>,
  doneTitle: "Unsubscribed",
  done: "You’re unsubscribed",
  doneAll: "You won’t get any more reminder emails. Nothing else has changed.",
  doneOrganization: "You won’t get reminders about that organization’s bills. Nothing else has changed.",
  doneBill: "You won’t get reminders about that bill. Nothing else has changed.",
  otherAccount: {
    title: "This link is for another account",
    message: "Sign out, then sign in with the address that the email was sent to.",
  },
  signIn: {
    title: "Sign in to unsubscribe",
    message: "The links in our emails work for 90 days. After that, and for a single bill, we ask you to sign in.",
    next: "Sign in",
  },
  broken: {
    title: "This link doesn’t work",
    message: "Part of it is missing, or the organization or bill it was for no longer exists.",
    next: "Change reminders in your account",
  },
};
