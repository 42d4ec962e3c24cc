/** Why a sign-in came to nothing, in our words. What the identity provider wrote is never shown: anybody can put text into that link. */

export type CallbackFailure = "link_used" | "other_browser" | "cancelled" | "incomplete" | "other_address" | "refused";

// Codes of Supabase Auth 2.190 and of its client, and the two of RFC 6749 section 4.1.2.1 that providers hand through it.
const FAILURES: Readonly<Record<string, CallbackFailure>> = {
  otp_expired: "link_used",
  flow_state_not_found: "link_used",
  flow_state_expired: "link_used",
  pkce_code_verifier_not_found: "other_browser",
  bad_code_verifier: "other_browser",
  access_denied: "cancelled",
  signup_disabled: "refused",
  provider_disabled: "refused",
};

/** The first code that we know decides; pass the most specific first. */
export function failureOf(...codes: (string | undefined)[]): CallbackFailure {
  return codes.map((code) => FAILURES[code ?? ""]).find(Boolean) ?? "incomplete";
}

export const WORDS: Readonly<Record<CallbackFailure, { title: string; message: string }>> = {
  link_used: {
    title: "This link no longer works",
    message:
      "A sign-in link works once and for one hour, and only the newest one counts. This one was used, is too old or was replaced.",
  },
  other_browser: {
    title: "This link does not work here",
    message:
      "For your safety a sign-in link works once, and only in the browser that asked for it. Open it there, or start again here; if you are signed in already, that takes you straight on.",
  },
  cancelled: {
    title: "The sign-in was cancelled",
    message: "The service you wanted to sign in with sent you back without signing you in.",
  },
  incomplete: {
    title: "The sign-in did not finish",
    message: "Something is missing from the link you came back with. Perhaps only a part of it was copied.",
  },
  other_address: {
    title: "This link is for another address",
    message: "It does not sign in the address that was named on the page before, and now it is used up.",
  },
  refused: {
    title: "You cannot sign in this way",
    message: "The service that signs people in did not accept this account.",
  },
};
