/**
 * The authorization server's metadata (RFC 8414 §2), the same document at every discovery URL. It includes the members
 * that OpenID Connect Discovery requires, since some clients reject a document without them. The server issues no id
 * tokens.
 */
import { OFFLINE_ACCESS, SCOPE } from "../../shared/oauth/scope.ts";
import type { Endpoint } from "./server.ts";

const CACHE = { "cache-control": "public, max-age=300" };

export const metadata: Endpoint = (c, { urls, config }) =>
  c.json(
    {
      issuer: urls.issuer,
      authorization_endpoint: urls.authorize,
      token_endpoint: urls.token,
      registration_endpoint: urls.register,
      revocation_endpoint: urls.revoke,
      jwks_uri: urls.jwks,
      response_types_supported: ["code"],
      response_modes_supported: ["query"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      token_endpoint_auth_methods_supported: ["none"],
      revocation_endpoint_auth_methods_supported: ["none"],
      code_challenge_methods_supported: ["S256"],
      scopes_supported: [SCOPE, OFFLINE_ACCESS],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      protected_resources: [urls.resource],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
      op_policy_uri: config.privacyUrl,
      op_tos_uri: config.termsUrl,
    },
    200,
    CACHE,
  );

/** No keys, because tokens are opaque and the server signs nothing that others verify. */
export const jwks: Endpoint = (c) => c.json({ keys: [] }, 200, CACHE);
