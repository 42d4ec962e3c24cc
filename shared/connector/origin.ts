/**
 * Decides which `Origin` may call the connector (MCP transports, Security: an invalid one gets 403). Any https page
 * may, because no cookie authenticates requests and DNS rebinding fails against a public https host. Loopback pages
 * (development tools) and callers that are not browsers may, too. Opaque (`null`), plain http and malformed origins
 * have no legitimate use.
 */
import { isLoopback } from "../net/loopback.ts";

/** @param origin value of the `Origin` header; absent outside browsers. */
export function isAllowedOrigin(origin: string | undefined): boolean {
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const url = new URL(origin);
  // An origin has only scheme, host and port (RFC 6454 §6.2).
  if (url.origin !== origin.toLowerCase()) return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname));
}
