/**
 * Resource indicators (RFC 8707): which spellings mean the connector. Clients cut its address to the origin, add a
 * slash or a query, or write the host in capitals; tokens are bound to the canonical one whichever it was.
 */

/** @param resources the connector's addresses, each without a trailing slash. */
export function isOurResource(requested: string, resources: readonly string[]): boolean {
  // A fragment is forbidden by RFC 8707 §2, and URL does not tell an empty one from none.
  if (!URL.canParse(requested) || requested.includes("#")) return false;
  const { origin, pathname, username, password } = new URL(requested);
  if (username || password) return false;
  const path = pathname.replace(/\/$/, "");
  return resources.some((resource) => {
    const ours = new URL(resource);
    return origin === ours.origin && (path === ours.pathname || path === "");
  });
}
