/**
 * Resource indicators (RFC 8707): the spellings that mean the connector. Clients shorten its URL to the origin, add a
 * slash or a query, or capitalize the host. The server always binds tokens to the canonical URL.
 */

/** @param resources the connector's addresses, without trailing slashes */
export function isOurResource(requested: string, resources: readonly string[]): boolean {
  // RFC 8707 §2 forbids a fragment; URL does not report an empty one.
  if (!URL.canParse(requested) || requested.includes("#")) return false;
  const { origin, pathname, username, password } = new URL(requested);
  if (username || password) return false;
  const path = pathname.replace(/\/$/, "");
  return resources.some((resource) => {
    const ours = new URL(resource);
    return origin === ours.origin && (path === ours.pathname || path === "");
  });
}
