/**
 * `WWW-Authenticate` of the connector (RFC 6750 §3, RFC 9728 §5.1): a single scheme on one line of plain ASCII,
 * because clients parse it with regular expressions.
 */
import { SCOPE } from "../oauth/scope.ts";

/** Why a credential was refused. A request without credentials gets no error code (RFC 6750 §3.1). */
export type ChallengeError = "invalid_token" | "invalid_request" | "insufficient_scope";

const DESCRIPTIONS: Record<ChallengeError, string> = {
  invalid_token: "The access token is unknown, expired or revoked",
  insufficient_scope: "The person allowed this app to read only",
  invalid_request: "The Authorization header is not a bearer credential",
};

/** @param metadata absolute URL of the protected-resource document of the requested address. */
export function challenge(metadata: string, error?: ChallengeError): string {
  const base = `Bearer realm="mcp", resource_metadata="${metadata}", scope="${SCOPE}"`;
  return error ? `${base}, error="${error}", error_description="${DESCRIPTIONS[error]}"` : base;
}
