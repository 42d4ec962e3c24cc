/**
 * The signed statement inside a consent page, which names the request and the person who saw it. Only this statement
 * counts for the decision: nobody can alter the request on the way back, and a page that one person saw is useless in
 * another's session.
 */
import { openToken, signToken } from "../signed_token.ts";
import type { AuthorizationRequest } from "./authorization_request.ts";
import { CONSENT_LIFETIME_MS } from "./limits.ts";

const LABEL = "oauth-consent/v1";

export interface ShownConsent {
  /** One id for the page and its code, because a page issues only one code. */
  id: string;
  userId: string;
  request: AuthorizationRequest;
}

export type OpenedConsent =
  | { outcome: "valid" | "expired"; consent: ShownConsent }
  | { outcome: "not_ours" };

/** @param id a random UUID. */
export function signConsent(secrets: readonly string[], consent: ShownConsent, at: Date): Promise<string> {
  const expiresAt = new Date(at.getTime() + CONSENT_LIFETIME_MS);
  return signToken(secrets, LABEL, { claims: { ...consent }, expiresAt });
}

export async function openConsent(secrets: readonly string[], token: string, at: Date): Promise<OpenedConsent> {
  const claims = await openToken(secrets, LABEL, token);
  if (!claims) return { outcome: "not_ours" };
  const { exp, ...consent } = claims as unknown as ShownConsent & { exp: number };
  return { outcome: exp * 1000 > at.getTime() ? "valid" : "expired", consent };
}
