/**
 * Client metadata documents (draft-ietf-oauth-client-id-metadata-document). Decides which URLs may be client ids,
 * which parts of a document take effect, and for how long. Fetches nothing, not even the URLs in a document (logo,
 * keys, pages), and ignores unknown members.
 */
import { judgeUrl, type UrlRefusal } from "../net/guarded_url.ts";
import { cleanClientName } from "./client_name.ts";
import { isKeepable, judgeRedirectUris, type RedirectUrisRefusal } from "./registration.ts";

export type ClientUrlRefusal = UrlRefusal | "not_canonical" | "without_path";

/**
 * Validates a URL as a client id (§3): fetchable, with a path, and exactly as the URL parser serializes it. Each URL
 * then has a single spelling, without dot segments, escaped hosts or default ports.
 * @param options.refusedHosts hosts that must never be contacted.
 */
export function judgeClientUrl(
  clientId: string,
  { refusedHosts }: { refusedHosts: readonly string[] },
): { ok: true } | { ok: false; reason: ClientUrlRefusal } {
  const judged = judgeUrl(clientId, { refusedHosts });
  if (!judged.ok) return judged;
  if (judged.url.pathname === "/") return { ok: false, reason: "without_path" };
  return judged.url.href === clientId ? { ok: true } : { ok: false, reason: "not_canonical" };
}

/** The parts of a document that take effect. */
export interface ClientDocument {
  client_name: string;
  redirect_uris: string[];
}

export type DocumentRefusal =
  | "status_not_200"
  | "type_not_json"
  | "not_json"
  | "not_an_object"
  /** Its `client_id` differs from the URL of the document. */
  | "of_another_client"
  | "client_name_missing"
  /** A document is public, so it cannot contain a secret (§4.1). */
  | "holds_a_secret"
  /** It supports only authentication methods that this server does not. */
  | "auth_method_not_offered"
  | "grant_type_not_offered"
  | "response_type_not_offered"
  | "metadata_too_large"
  | RedirectUrisRefusal;

export type JudgedDocument = { ok: true; document: ClientDocument } | { ok: false; reason: DocumentRefusal };

/** Validates the document fetched from a client id. */
export function judgeDocument(
  clientId: string,
  { status, headers, body }: { status: number; headers: Headers; body: Uint8Array },
): JudgedDocument {
  const refuse = (reason: DocumentRefusal): JudgedDocument => ({ ok: false, reason });
  if (status !== 200) return refuse("status_not_200");
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(headers.get("content-type") ?? "")) {
    return refuse("type_not_json");
  }
  const said = parseJson(body);
  if (said === undefined) return refuse("not_json");
  if (typeof said !== "object" || said === null || Array.isArray(said)) return refuse("not_an_object");

  const metadata = said as Record<string, unknown>;
  if (metadata.client_id !== clientId) return refuse("of_another_client");
  const name = typeof metadata.client_name === "string" ? cleanClientName(metadata.client_name) : undefined;
  if (!name) return refuse("client_name_missing");
  if (holdsSecret(metadata)) return refuse("holds_a_secret");
  // Clients list every method that any server may want, preferred first; one common method is enough.
  const { token_endpoint_auth_method: preferred = "none", token_endpoint_auth_methods_supported: methods } = metadata;
  if (!offers(Array.isArray(methods) ? methods : [preferred], "none")) return refuse("auth_method_not_offered");
  if (!offers(metadata.grant_types, "authorization_code")) return refuse("grant_type_not_offered");
  if (!offers(metadata.response_types, "code")) return refuse("response_type_not_offered");
  const uris = judgeRedirectUris(metadata.redirect_uris);
  if (!uris.ok) return uris;
  if (!isKeepable(name, uris.usable)) return refuse("metadata_too_large");
  return { ok: true, document: { client_name: name, redirect_uris: uris.usable } };
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

function holdsSecret(metadata: Record<string, unknown>): boolean {
  const method = metadata.token_endpoint_auth_method;
  return "client_secret" in metadata || "client_secret_expires_at" in metadata ||
    (typeof method === "string" && method.startsWith("client_secret_"));
}

const offers = (list: unknown, wanted: string) => !Array.isArray(list) || list.length === 0 || list.includes(wanted);

const MINUTE_MS = 60_000;
/**
 * Bounds on caching. A document that forbids caching is not refetched for every page, and one that allows a year is
 * refetched earlier.
 */
const FRESH_MS = { least: 5 * MINUTE_MS, most: 24 * 60 * MINUTE_MS };

/** The time until which a document fetched at `at` needs no refetch (RFC 9111 §4.2, within our own bounds). */
export function freshUntil(headers: Headers, at: Date): Date {
  const [, maxAge] = /(?:^|[,\s])max-age="?(\d+)/i.exec(headers.get("cache-control") ?? "") ?? [];
  const age = /^\d{1,9}$/.exec(headers.get("age") ?? "")?.[0] ?? "0";
  const seconds = maxAge === undefined ? 0 : Number(maxAge) - Number(age);
  return new Date(at.getTime() + Math.min(Math.max(seconds * 1000, FRESH_MS.least), FRESH_MS.most));
}
