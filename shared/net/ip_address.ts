/**
 * Parses IP addresses, only in the standard notation of each family: no octal, hexadecimal or shortened IPv4, no zone,
 * no brackets, no white space.
 */
import ipaddr from "ipaddr.js";

/** RFC 4291 §2.2 for IPv6; undefined when the text is not an address. */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  const url = `http://[${text}]/`;
  if (!/^[\da-f:.]+$/i.test(text) || !URL.canParse(url)) return undefined;
  // Normalized by the URL parser first, because ipaddr.js mistakes ::1.2.3.4 for ::ffff:1.2.3.4 and accepts octal
  // parts.
  return ipaddr.IPv6.parse(new URL(url).hostname.slice(1, -1));
}
