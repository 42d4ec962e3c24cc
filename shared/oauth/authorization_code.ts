/**
 * The authorization code: signed and self-contained, so issuing one stores nothing. This module checks all bindings,
 * in an order that lets only the rightful client use it up. The database enforces single use.
 */
import type { Access } from "./access.ts";
import { openToken, signToken } from "../signed_token.ts";
import { CODE_LIFETIME_MS } from "./limits.ts";
import { provesChallenge } from "./pkce.ts";
import { isOurResource } from "./resource.ts";

const LABEL = "oauth-code/v1";

/** The bindings of a code. */
export interface AuthorizationCode {
  /** The id of the consent page, under which the code is redeemed. */
  id: string;
  clientId: string;
  redirectUri: string;
  userId: string;
  organizationId: string;
  /** Canonical resource identifier. */
  resource: string;
  codeChallenge: string;
  access: Access;
}

/** The same consent yields the same code as long as the first secret is unchanged. */
export function issueCode(secrets: readonly string[], code: AuthorizationCode, approvedAt: Date): Promise<string> {
  const expiresAt = new Date(approvedAt.getTime() + CODE_LIFETIME_MS);
  return signToken(secrets, LABEL, { claims: { ...code }, expiresAt });
}

/** A code exchange as the client sent it. */
export interface CodeExchange {
  code: string;
  clientId: string;
  redirectUri: string;
  codeVerifier: string;
  /** Defaults to the resource that the code is bound to. */
  resource?: string | undefined;
}

export type CodeRefusal =
  | "code_not_ours"
  | "code_expired"
  | "code_of_another_client"
  | "code_for_another_redirect_uri"
  | "resource_unknown";

type Opened = { code: AuthorizationCode; expiresAt: Date };
export type JudgedCode =
  | { outcome: "good" } & Opened
  /** Only the verifier is wrong: the code leaked in transit, or the client mixed up two sign-ins. */
  | { outcome: "wrong_verifier" } & Opened
  | { outcome: "refused"; reason: CodeRefusal };

/**
 * Checks signature, expiry, client, redirect URI, resource and verifier, in this order. The verifier comes last,
 * because its failures count.
 */
export async function judgeCode(
  sent: CodeExchange,
  { secrets, resources, at }: { secrets: readonly string[]; resources: readonly string[]; at: Date },
): Promise<JudgedCode> {
  const refuse = (reason: CodeRefusal): JudgedCode => ({ outcome: "refused", reason });
  const claims = await openToken(secrets, LABEL, sent.code);
  if (!claims) return refuse("code_not_ours");
  const { exp, ...code } = claims as unknown as AuthorizationCode & { exp: number };
  const expiresAt = new Date(exp * 1000);
  if (expiresAt <= at) return refuse("code_expired");
  if (code.clientId !== sent.clientId) return refuse("code_of_another_client");
  if (code.redirectUri !== sent.redirectUri) return refuse("code_for_another_redirect_uri");
  if (sent.resource && !isOurResource(sent.resource, resources)) return refuse("resource_unknown");
  const isProven = provesChallenge(sent.codeVerifier, code.codeChallenge);
  return { outcome: isProven ? "good" : "wrong_verifier", code, expiresAt };
}
