/**
 * Redirect URIs: decides which may be registered and which match a registration, and adds responses to them. Allowed
 * are https (at known makers only their published URIs), http on loopback, a few schemes of desktop apps, and
 * reverse-domain schemes (RFC 8252 §7).
 */
import { isHostName } from "../net/guarded_url.ts";
import { isLoopback } from "../net/loopback.ts";
import { isMakersHost, isPublished } from "./known_makers.ts";
import { MAX_URI_LENGTH } from "./limits.ts";

export type RedirectTarget =
  | { kind: "https"; host: string }
  /** An app that listens on the person's own computer. */
  | { kind: "loopback"; host: string }
  /** An app that the operating system opens by scheme, given without the colon. */
  | { kind: "app"; scheme: string };

export type RedirectRefusal =
  | "too_long"
  | "illegal_character"
  | "not_a_url"
  | "not_canonical"
  | "has_credentials"
  | "host_malformed"
  /** On a known vendor's host, but not one of its published callbacks, so it may redirect anywhere. */
  | "not_published"
  | "http_not_on_loopback"
  | "scheme_not_allowed";

export type JudgedRedirect = { ok: true; target: RedirectTarget } | { ok: false; reason: RedirectRefusal };

/** Apps that predate the reverse-domain rule of RFC 8252. */
const APP_SCHEMES = new Set(["cursor", "vscode", "vscode-insiders"]);
const REVERSE_DOMAIN = /^[a-z][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*)+$/;

// RFC 3986 without `#` (RFC 6749 §3.1.2 forbids a fragment) and `*` (no wildcards). Excludes backslashes, spaces and
// control characters.
const LEGAL = /^[A-Za-z0-9\-._~:/?[\]@!$&'()+,;=%]+$/;

/** Validates one URI on its own. Rejects everything that a browser might read as a different URL. */
export function judgeRedirectUri(uri: string): JudgedRedirect {
  const refuse = (reason: RedirectRefusal): JudgedRedirect => ({ ok: false, reason });
  if (uri.length > MAX_URI_LENGTH) return refuse("too_long");
  if (!LEGAL.test(uri)) return refuse("illegal_character");
  if (!URL.canParse(uri)) return refuse("not_a_url");
  const url = new URL(uri);
  if (url.username || url.password || /^[^/?]*\/\/[^/?]*@/.test(uri)) return refuse("has_credentials");
  if (canonical(uri) !== canonical(url.href) || url.hostname.endsWith(".")) return refuse("not_canonical");

  const scheme = url.protocol.slice(0, -1);
  if (scheme === "https") {
    // The URL parser accepts more (`;`, `'`, `$`), but the host goes into a CSP header, where a semicolon starts a new
    // directive.
    if (!isHostName(url.hostname)) return refuse("host_malformed");
    if (isMakersHost(url.hostname) && !isPublished(uri)) return refuse("not_published");
    return { ok: true, target: { kind: "https", host: url.host } };
  }
  if (scheme === "http") {
    if (!isLoopback(url.hostname)) return refuse("http_not_on_loopback");
    return { ok: true, target: { kind: "loopback", host: url.hostname } };
  }
  if (!APP_SCHEMES.has(scheme) && !REVERSE_DOMAIN.test(scheme)) return refuse("scheme_not_allowed");
  return { ok: true, target: { kind: "app", scheme } };
}

/**
 * Whether `requested` is one of the registered URIs, by exact comparison (RFC 9700 §4.1.3). Only the port of http on
 * loopback may differ, since apps use whichever port they get (RFC 8252 §7.3).
 */
export function isRegistered(requested: string, registered: readonly string[]): boolean {
  const isLoopback = isLoopbackUri(requested);
  return registered.some((uri) =>
    uri === requested || (isLoopback && isLoopbackUri(uri) && withoutPort(uri) === withoutPort(requested))
  );
}

/** The URI with parameters appended to its query; absent ones are skipped. */
export function withParameters(uri: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const query = Object.entries(parameters)
    .flatMap(([name, value]) => value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`])
    .join("&");
  if (!uri.includes("?")) return `${uri}?${query}`;
  return /[?&]$/.test(uri) ? uri + query : `${uri}&${query}`;
}

function isLoopbackUri(uri: string): boolean {
  const judged = judgeRedirectUri(uri);
  return judged.ok && judged.target.kind === "loopback";
}

function withoutPort(uri: string): string {
  const url = new URL(uri);
  url.port = "";
  return url.href;
}

/** Scheme and host in lower case, no port, an empty path as `/`: the URL parser's changes that keep the meaning. */
function canonical(uri: string): string {
  const [, scheme, host, rest] = /^([^:]+:\/\/)([^/?]*?)(?::\d+)?(?=[/?]|$)(.*)$/.exec(uri) ?? [];
  if (scheme === undefined) return uri;
  return scheme.toLowerCase() + host!.toLowerCase() + (rest!.startsWith("/") ? rest : `/${rest}`);
}
