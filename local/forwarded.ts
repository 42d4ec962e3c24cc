/** Recognizes requests that a proxy, tunnel or port forwarder passed on. */

/** Headers, or prefixes of headers, that common proxies add. */
const ADDED = ["forwarded", "via", "x-real-ip", "x-client-ip", "true-client-ip"];
const ADDED_PREFIXES = ["x-forwarded", "x-original", "cf-", "fly-", "fastly-", "x-envoy-", "x-azure-", "x-appengine-"];

/**
 * Whether a header reveals a proxy in front of the stack. Missing headers prove nothing, because a proxy may add none
 * and may rewrite `Host`.
 */
export const isForwarded = (headers: Headers): boolean =>
  [...headers.keys()].some((name) => ADDED.includes(name) || ADDED_PREFIXES.some((prefix) => name.startsWith(prefix)));
