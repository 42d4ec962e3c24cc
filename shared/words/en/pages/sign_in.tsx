/** @jsxImportSource hono/jsx */
/** Signing in: the login page, the page after the mail, the mailed link's page, and failed sign-ins. */
import type { Child } from "hono/jsx";

/** For reviewers of app directories, while the operator admits them. */
export const review = {
  title: "Reviewer sign-in",
  lead: "This page is for the reviewers of app directories. Use the code from the submission.",
  code: "Code",
  shape: "A code has 26 letters and digits. Copy it again from the submission.",
  refused: "This code isn’t valid, or it has expired.",
};

export const login = {
  title: "Sign in",
  sentHere: (app: Child) => (
    <>
      An app that calls itself <strong>{app}</strong> sent you here. Once you’re signed in, you decide what it may use.
    </>
  ),
  lead: "Sign in with a link or code we email you. If you’re new here, this also creates your account.",
  email: "Email address",
  notAnAddress: "That’s not an email address. Check it for typos.",
  send: "Email me a link",
  or: "or",
  continueWith: (service: string): string => `Continue with ${service}`,
  signInAs: (address: string): string => `Sign in as ${address}`,
  review: "Sign in with a reviewer’s code",
  mailbox: "Open the mailbox",
  /** Marks elements that only the embedded stack has. */
  local: "local",
};

export const sent = {
  title: "Check your email",
  lead: (address: Child) => (
    <>
      We sent a link to <strong>{address}</strong>. Open it on this device. It works once and expires in 1 hour.
    </>
  ),
  code: "Or enter the six-digit code",
  codeReason: "It’s in the same email. Use it if you read your email on another device.",
  codeShape: "The code has six digits. It’s in the email, below the button.",
  codeRefused: "That code is wrong, already used or expired. Check it, or ask for another email.",
  signIn: "Sign in",
  noEmail: "No email?",
  patience: "It can take a minute. Check your spam folder first, or ask for another email.",
  otherAddress: "Use a different address",
  again: "Send another email",
};

export const confirm = {
  title: "Confirm it’s you",
  signInAs: (address: Child) => <>Sign in as {address}</>,
  whose: "Whose link is this?",
  switches: (current: Child) => (
    <>
      You’re signed in here as{" "}
      <strong>{current}</strong>. This link signs you in to another account, and anything you enter from then on goes
      there.
    </>
  ),
  canSwitch: (current: Child) => (
    <>
      You’re signed in here as{" "}
      <strong>{current}</strong>. This link can sign you in to another account, and anything you enter from then on goes
      there.
    </>
  ),
  lead: "You opened the link that we emailed to this address. Press the button to sign in on this device.",
  leadUnsaid: "You opened a sign-in link that doesn’t say which address it’s for. Type the address it was sent to.",
  typeAddress: "Type the address that the link was sent to.",
  notYours: "Not your address? Didn’t ask for this? Close this page and nothing happens.",
  email: "Email address",
  signIn: "Sign in",
};

export const signInFailures = {
  unchanged: "Nothing was changed. If you were already signed in here, you still are.",
  again: "Sign in again",
  reasons: {
    link_used: {
      title: "This link no longer works",
      message:
        "A sign-in link works once, for one hour, and only the newest one counts. This one was used, is too old or was replaced.",
    },
    other_browser: {
      title: "This link doesn’t work here",
      message:
        "For your safety, a sign-in link works once, and only in the browser that asked for it. Open it there, or start again here.",
    },
    cancelled: {
      title: "The sign-in was cancelled",
      message: "The service you wanted to sign in with sent you back without signing you in.",
    },
    incomplete: {
      title: "The sign-in didn’t finish",
      message: "Something is missing from the link you came back with. Perhaps only part of it was copied.",
    },
    other_address: {
      title: "This link is for another address",
      message: "It belongs to a different address than the one on the previous page, and it can’t be used again.",
    },
    refused: {
      title: "You can’t sign in this way",
      message: "The service that signs people in didn’t accept this account.",
    },
  },
};
