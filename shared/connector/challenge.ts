/**
 * `WWW-Authenticate` of the connector (RFC 6750 §3, RFC 9728 §5.1). One scheme, one line, plain ASCII: clients read
 * it with a regular expression.
 */
import { SCOPE } from "../oauth/scope.ts";

/** Why a credential was refused. Without one there is no error to name (RFC 6750 §3.1). */
export type ChallengeError = "invalid_token" | "invalid_request";

const DESCRIPTIONS: Record<ChallengeError, string> = {
  invalid_token: "The access token is unknown, expired or revoked",
  invalid_request: "The Authorization header is not a bearer credential",
};

/** @param metadata absolute URL of the protected-resource document of the address that was asked. */
export function challenge(metadata: string, error?: ChallengeError): string {
  const base = `Bearer realm="mcp", resource_metadata="${metadata}", scope="${SCOPE}"`;
  return error ? `${base}, error="${error}", error_description="${DESCRIPTIONS[error]}"` : base;
}
