/** Where a person wanted to go before signing in: a path of this site or nothing. */

/** An authorization request with everything in it fits; a longer one is no page of ours. */
const LONGEST = 8192;

/**
 * The path when it stays on this site, else undefined. The path part is held to the characters that our routes are made of
 * (`//host`, `/\host`, `/%2f%2fhost` and their kin are other sites to some browser or proxy); the query may be anything printable.
 */
export function safeNextPath(next: string | null | undefined): string | undefined {
  if (!next || next.length > LONGEST) return undefined;
  return /^\/(?!\/)[\w./~-]*(?:[?#][\x21-\x5b\x5d-\x7e]*)?$/.test(next) && !next.includes("/.") ? next : undefined;
}

/** `path` with `next` carried along, when there is one. */
export function withNext(path: string, next: string | undefined): string {
  return next ? `${path}${path.includes("?") ? "&" : "?"}next=${encodeURIComponent(next)}` : path;
}
