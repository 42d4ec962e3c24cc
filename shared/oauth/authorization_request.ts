/**
 * The authorization request (RFC 6749 §4.1.1, RFC 7636 §4.3, RFC 8707 §2): its parameters, and all checks after the
 * verification of the client and its redirect URI, when errors may be redirected to the client.
 */
import { askedAccess, scopeOf } from "./access.ts";
import { MAX_STATE_LENGTH } from "./limits.ts";
import { isCodeChallenge } from "./pkce.ts";
import { isOurResource } from "./resource.ts";

export const AUTHORIZATION_PARAMETERS = [
  "client_id",
  "redirect_uri",
  "response_type",
  "response_mode",
  "code_challenge",
  "code_challenge_method",
  "state",
  "scope",
  "resource",
  "prompt",
  "request",
  "request_uri",
] as const;

export type AuthorizationParameters = Partial<Record<(typeof AUTHORIZATION_PARAMETERS)[number], string>>;

/** A valid request in the form for the consent page, reduced to the relevant parameters. */
export interface AuthorizationRequest {
  client_id: string;
  redirect_uri: string;
  code_challenge: string;
  /** The client's state; echoed unchanged, absent if it was absent. */
  state?: string;
  /** Present if the client asked to read only. */
  scope?: string;
}

/** Why a request gets an error redirect. */
export type AuthorizationRefusal =
  | "response_type_not_code"
  | "response_mode_not_query"
  | "request_object_sent"
  | "challenge_missing"
  | "challenge_malformed"
  | "challenge_method_not_s256"
  | "resource_unknown"
  | "state_too_long"
  | "login_required"
  | "consent_required"
  | "access_denied";

/** The error code for the client (RFC 6749 §4.1.2.1; `login_required` and the like: OpenID Connect Core §3.1.2.6). */
export const AUTHORIZATION_ERRORS: Readonly<
  Record<AuthorizationRefusal, { error: string; error_description: string }>
> = {
  response_type_not_code: { error: "unsupported_response_type", error_description: "response_type must be code" },
  response_mode_not_query: { error: "invalid_request", error_description: "response_mode must be query" },
  request_object_sent: {
    error: "request_not_supported",
    error_description: "request and request_uri are not supported",
  },
  challenge_missing: { error: "invalid_request", error_description: "code_challenge is required" },
  challenge_malformed: {
    error: "invalid_request",
    error_description: "code_challenge must be a SHA-256 digest in base64url",
  },
  challenge_method_not_s256: { error: "invalid_request", error_description: "code_challenge_method must be S256" },
  resource_unknown: { error: "invalid_target", error_description: "resource is not served by this server" },
  state_too_long: {
    error: "invalid_request",
    error_description: `state may have ${MAX_STATE_LENGTH} characters at most`,
  },
  login_required: { error: "login_required", error_description: "nobody is signed in" },
  consent_required: { error: "consent_required", error_description: "every connection needs consent" },
  access_denied: { error: "access_denied", error_description: "the request was denied" },
};

export type JudgedRequest =
  | { ok: true; request: AuthorizationRequest }
  | { ok: false; reason: AuthorizationRefusal };

/**
 * Checks the parameters of a known client with one of its redirect URIs. response_type defaults to `code` and
 * code_challenge_method to S256, the only values supported.
 * @param resources addresses of the connector.
 */
export function judgeAuthorizationRequest(
  sent: AuthorizationParameters & { client_id: string; redirect_uri: string },
  { resources }: { resources: readonly string[] },
): JudgedRequest {
  const refuse = (reason: AuthorizationRefusal): JudgedRequest => ({ ok: false, reason });
  if (sent.state && sent.state.length > MAX_STATE_LENGTH) return refuse("state_too_long");
  if (sent.request ?? sent.request_uri) return refuse("request_object_sent");
  if (sent.response_type && sent.response_type !== "code") return refuse("response_type_not_code");
  if (sent.response_mode && sent.response_mode !== "query") return refuse("response_mode_not_query");
  if (!sent.code_challenge) return refuse("challenge_missing");
  if (sent.code_challenge_method && sent.code_challenge_method !== "S256") return refuse("challenge_method_not_s256");
  if (!isCodeChallenge(sent.code_challenge)) return refuse("challenge_malformed");
  if (sent.resource && !isOurResource(sent.resource, resources)) return refuse("resource_unknown");
  const { client_id, redirect_uri, code_challenge, state } = sent;
  const scope = scopeOf(askedAccess(sent.scope));
  return {
    ok: true,
    request: {
      client_id,
      redirect_uri,
      code_challenge,
      ...(state !== undefined && { state }),
      ...(scope && { scope }),
    },
  };
}

/** Path and query that repeat the request, after signing in or to start over. */
export function authorizationPath(parameters: AuthorizationParameters | AuthorizationRequest): string {
  const sent = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return `/api/oauth/authorize?${new URLSearchParams(sent)}`;
}
