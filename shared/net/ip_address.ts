/**
 * IP addresses, in the one plain spelling of each family. Takes nothing else that some parser somewhere would: no octal, hexadecimal or
 * shortened IPv4, no zone, no brackets, no white space.
 */
import ipaddr from "ipaddr.js";

/** RFC 4291 §2.2 for IPv6; undefined for anything that is not an address. */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  const url = `http://[${text}]/`;
  if (!/^[\da-f:.]+$/i.test(text) || !URL.canParse(url)) return undefined;
  // Spelled anew by the URL parser: ipaddr.js takes ::1.2.3.4 for ::ffff:1.2.3.4, and octal endings.
  return ipaddr.IPv6.parse(new URL(url).hostname.slice(1, -1));
}
