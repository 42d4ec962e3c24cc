/**
 * Dynamic client registration (RFC 7591). Selects the metadata that take effect, ignores the rest, and fetches no URL.
 * Clients get no secret; a client that asks for one is registered as public.
 */
import { cleanClientName } from "./client_name.ts";
import { MAX_METADATA_BYTES, MAX_REDIRECT_URIS } from "./limits.ts";
import { judgeRedirectUri } from "./redirect_uri.ts";
import { SCOPE } from "./scope.ts";

/** Client metadata, with the names of RFC 7591 §2. */
export interface ClientMetadata {
  client_name: string;
  redirect_uris: string[];
  grant_types: string[];
  response_types: ["code"];
  token_endpoint_auth_method: "none";
  scope: typeof SCOPE;
}

export type RedirectUrisRefusal = "no_redirect_uris" | "too_many_redirect_uris" | "no_usable_redirect_uri";

export type RegistrationRefusal =
  | "not_an_object"
  | "client_name_not_a_string"
  | "metadata_too_large"
  | RedirectUrisRefusal;

export type JudgedRegistration = { ok: true; metadata: ClientMetadata } | { ok: false; reason: RegistrationRefusal };

const GRANT_TYPES = ["authorization_code", "refresh_token"];
const NO_NAME = "Unnamed app";

/** @param body the parsed body; undefined when it is not JSON. */
export function judgeRegistration(body: unknown): JudgedRegistration {
  const refuse = (reason: RegistrationRefusal): JudgedRegistration => ({ ok: false, reason });
  if (typeof body !== "object" || body === null || Array.isArray(body)) return refuse("not_an_object");
  const { redirect_uris: uris, client_name: name, grant_types: grantTypes } = body as Record<string, unknown>;
  if (name !== undefined && name !== null && typeof name !== "string") return refuse("client_name_not_a_string");
  const judged = judgeRedirectUris(uris);
  if (!judged.ok) return judged;

  const clientName = cleanClientName(name ?? "") ?? NO_NAME;
  if (!isKeepable(clientName, judged.usable)) return refuse("metadata_too_large");
  const wanted = Array.isArray(grantTypes) ? GRANT_TYPES.filter((type) => grantTypes.includes(type)) : [];
  return {
    ok: true,
    metadata: {
      client_name: clientName,
      redirect_uris: judged.usable,
      grant_types: wanted.length > 0 ? wanted : GRANT_TYPES,
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      scope: SCOPE,
    },
  };
}

/** Whether the client fits the size limit of the table `oauth.clients`. */
export function isKeepable(clientName: string, redirectUris: readonly string[]): boolean {
  return new TextEncoder().encode(clientName + redirectUris.join("")).length <= MAX_METADATA_BYTES;
}

/** The distinct valid redirect URIs of a client. Invalid ones are dropped as long as one is valid. */
export function judgeRedirectUris(
  uris: unknown,
): { ok: true; usable: string[] } | { ok: false; reason: RedirectUrisRefusal } {
  if (!Array.isArray(uris) || uris.length === 0) return { ok: false, reason: "no_redirect_uris" };
  if (uris.length > MAX_REDIRECT_URIS) return { ok: false, reason: "too_many_redirect_uris" };
  // Some clients register a custom scheme along with a web callback; rejecting both would lock them out.
  const usable = uris.filter((uri): uri is string => typeof uri === "string" && judgeRedirectUri(uri).ok);
  return usable.length > 0
    ? { ok: true, usable: [...new Set(usable)] }
    : { ok: false, reason: "no_usable_redirect_uri" };
}
