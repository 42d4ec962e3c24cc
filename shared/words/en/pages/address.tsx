/** @jsxImportSource hono/jsx */
/** Changing the sign-in address: the request, and the page behind the mailed links. */
import type { Child } from "hono/jsx";

export const changeAddress = {
  title: "Change your sign-in address",
  lead: (address: Child) => <>You sign in with {address}. We’ll email that address and the new one.</>,
  field: "New address",
  send: "Email both addresses",
  cancel: "Keep this address",
  notAnAddress: "That’s not an email address. Check it for typos.",
  same: "You already sign in with this address.",
  /** Promises no mail: the provider sends none if the new address has an account, and the page must not reveal that. */
  sentTitle: "Check both inboxes",
  sent: (from: Child, to: Child) => (
    <>
      Check {from} and {to}, and open the link in each email. Nothing changes until both are confirmed.
    </>
  ),
  nothing: "No emails? The new address may already have an account.",
};

export const confirmAddress = {
  title: "Confirm the new sign-in address",
  question: "Switch to the new sign-in address?",
  lead: (from: Child, to: Child) => (
    <>
      From now on, the account that signs in as <strong>{from}</strong> will sign in as <strong>{to}</strong> instead.
    </>
  ),
  leadUnsaid: "An account will sign in with another address from now on.",
  notYours: "Didn’t ask for this, or don’t know one of the addresses? Close this page, and nothing changes.",
  yes: "Confirm the change",
  half: "One more email",
  halfLead:
    "Confirmed here. Now open the link in the email to the other address: the change takes effect once both have been confirmed.",
  doneTitle: "Address changed",
  done: "Your sign-in address has changed",
  doneLead: (to: Child) => (
    <>
      From now on, sign in with <strong>{to}</strong>. Connected apps stay connected.
    </>
  ),
  stale: "This link no longer works",
  staleMessage:
    "It works once, for one hour, and only the newest one counts. Ask for the change again on your account page.",
  perhapsPressed:
    "If you already pressed the button, it worked: check the email to the other address, or sign in with the new one.",
};
