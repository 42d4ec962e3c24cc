/** Validates the return path after sign-in, which must be on this site. */

/** Fits the largest authorization request. */
const MAX_LENGTH = 8192;

/**
 * The path if it stays on this site, otherwise undefined. The path part may contain only characters that our routes
 * use, because some browsers or proxies read `//host`, `/\host`, `/%2f%2fhost` and the like as other sites. The query
 * may be any printable text.
 */
export function safeNextPath(next: string | null | undefined): string | undefined {
  if (!next || next.length > MAX_LENGTH) return undefined;
  return /^\/(?!\/)[\w./~-]*(?:[?#][\x21-\x5b\x5d-\x7e]*)?$/.test(next) && !next.includes("/.") ? next : undefined;
}

/** `path` with `next` added, if there is one. */
export function withNext(path: string, next: string | undefined): string {
  return next ? `${path}${path.includes("?") ? "&" : "?"}next=${encodeURIComponent(next)}` : path;
}
