/**
 * Errors of the JSON endpoints: maps each internal reason to the deliberately vague error that the caller gets (RFC
 * 6749 §5.2, RFC 7009 §2.2.1, RFC 7591 §3.2.2). The reason itself appears only in the log.
 */
import type { Redemption, Rotation } from "../../shared/db/oauth_store.ts";
import type { Config } from "../../shared/config.ts";
import type { ErrorCode } from "../../shared/error_codes.ts";
import type { AppContext, RenderError } from "../../shared/http/app.ts";
import type { LogFields } from "../../shared/log.ts";
import { MAX_METADATA_BYTES, MAX_REDIRECT_URIS } from "../../shared/oauth/limits.ts";
import type { CodeRefusal } from "../../shared/oauth/authorization_code.ts";
import type { RegistrationRefusal } from "../../shared/oauth/registration.ts";
import { isPage } from "./headers.ts";
import type { AuthorizationServer } from "./server.ts";

export type Refusal =
  | "body_not_a_form"
  | "parameter_repeated"
  | "parameter_missing"
  | "grant_type_unsupported"
  | "client_sent_credentials"
  | "client_id_malformed"
  | "token_malformed"
  | "wrong_verifier"
  | "successor_not_derivable"
  | CodeRefusal
  | RegistrationRefusal
  | Exclude<Redemption["outcome"], "redeemed">
  | Exclude<Rotation["outcome"], "rotated">;

interface WireError {
  status: 400 | 401;
  error: string;
  error_description: string;
}

const wire = (error: string, error_description: string, status: 400 | 401 = 400): WireError => ({
  status,
  error,
  error_description,
});

const UNKNOWN_CLIENT = wire("invalid_client", "unknown client_id; register again", 401);
// One text per grant type, because the name of the failed check would help an attacker.
const BAD_CODE = wire("invalid_grant", "the authorization code is not valid, has expired or was used before");
const BAD_REFRESH_TOKEN = wire("invalid_grant", "the refresh token is not valid, has expired or was revoked");

const WIRE: Readonly<Record<Refusal, WireError>> = {
  body_not_a_form: wire("invalid_request", "send the parameters as application/x-www-form-urlencoded"),
  parameter_repeated: wire("invalid_request", "a parameter was sent more than once"),
  parameter_missing: wire("invalid_request", "a required parameter is missing"),
  grant_type_unsupported: wire("unsupported_grant_type", "grant_type must be authorization_code or refresh_token"),
  client_sent_credentials: wire("invalid_client", "clients have no secret here; send client_id in the body", 401),
  client_id_malformed: UNKNOWN_CLIENT,
  unknown_client: UNKNOWN_CLIENT,
  resource_unknown: wire("invalid_target", "resource is not served by this server"),

  code_not_ours: BAD_CODE,
  code_expired: BAD_CODE,
  code_of_another_client: BAD_CODE,
  code_for_another_redirect_uri: BAD_CODE,
  wrong_verifier: BAD_CODE,
  not_a_member: BAD_CODE,
  burnt: BAD_CODE,

  token_malformed: BAD_REFRESH_TOKEN,
  unknown_token: BAD_REFRESH_TOKEN,
  revoked: BAD_REFRESH_TOKEN,
  expired: BAD_REFRESH_TOKEN,
  suspended: BAD_REFRESH_TOKEN,
  successor_not_derivable: BAD_REFRESH_TOKEN,
  replayed: wire("invalid_grant", "this was used before; sign in again"),

  not_an_object: wire("invalid_client_metadata", "the body must be a JSON object"),
  client_name_not_a_string: wire("invalid_client_metadata", "client_name must be a string"),
  metadata_too_large: wire(
    "invalid_client_metadata",
    `client_name and redirect_uris must not exceed ${MAX_METADATA_BYTES} bytes together`,
  ),
  no_redirect_uris: wire("invalid_redirect_uri", "redirect_uris must be an array with at least one URI"),
  too_many_redirect_uris: wire(
    "invalid_redirect_uri",
    `redirect_uris must not have more than ${MAX_REDIRECT_URIS} entries`,
  ),
  no_usable_redirect_uri: wire(
    "invalid_redirect_uri",
    "redirect URIs must be https, http on loopback, or the private scheme of an app",
  ),
};

/** Responds with the public error for a reason. A more precise `detail` replaces its text. */
export function refuse(
  c: AppContext,
  { log }: Pick<AuthorizationServer, "log">,
  reason: Refusal,
  { detail, ...fields }: LogFields & { detail?: string } = {},
): Response {
  log.info("refused", { request_id: c.get("requestId"), reason, ...fields });
  const { status, error, error_description } = WIRE[reason];
  const body = { error, error_description: detail ?? error_description };
  // RFC 6749 §5.2: a client that tried HTTP authentication gets a matching challenge.
  const challenge = reason === "client_sent_credentials" ? { "www-authenticate": 'Basic realm="oauth"' } : undefined;
  return c.json(body, status, { ...NO_STORE, ...challenge });
}

/** RFC 6749 §5.1 requires both. */
export const NO_STORE = { "cache-control": "no-store", "pragma": "no-cache" };

const FAILURES: Readonly<Record<ErrorCode, string>> = {
  invalid_request: "invalid_request",
  unauthorized: "invalid_request",
  forbidden: "access_denied",
  suspended: "access_denied",
  not_found: "invalid_request",
  method_not_allowed: "invalid_request",
  request_timeout: "temporarily_unavailable",
  payload_too_large: "invalid_request",
  unsupported_media_type: "invalid_request",
  rate_limited: "temporarily_unavailable",
  internal: "server_error",
  overloaded: "temporarily_unavailable",
  // Never invalid_grant, because a client would discard its tokens after an outage.
  unavailable: "temporarily_unavailable",
};

/** Page routes show failures as pages, all others as OAuth errors. */
export function renderError(config: Config): RenderError {
  return async (error, c) => {
    if (!isPage(c)) {
      return c.json({ error: FAILURES[error.code], error_description: error.message }, error.status, NO_STORE);
    }
    const { pageErrors } = await import("../../shared/pages/error_page.tsx");
    return await pageErrors(config)(error, c);
  };
}
