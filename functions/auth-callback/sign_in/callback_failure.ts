/**
 * Why a sign-in failed. The page never shows the identity provider's message, because anyone can put text into that
 * link.
 */
import type { PageWords } from "../../../shared/words/page_words.ts";

export type CallbackFailure = keyof PageWords["signInFailures"]["reasons"];

// Codes of Supabase Auth 2.190 and its client, and two of RFC 6749 section 4.1.2.1 that providers pass through.
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

/** The first known code decides; pass the most specific first. */
export function failureOf(...codes: (string | undefined)[]): CallbackFailure {
  return codes.map((code) => FAILURES[code ?? ""]).find(Boolean) ?? "incomplete";
}
