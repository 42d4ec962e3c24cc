/**
 * Which addresses are on the public internet. Whatever else there is (this machine, its network, the metadata service of its cloud, addresses
 * that carry another one inside) is refused by the registries of special-purpose addresses (RFC 6890), as ipaddr.js keeps them, and by three
 * rules of our own.
 */
import ipaddr from "ipaddr.js";
import { parseAddress } from "./ip_address.ts";

/** A cloud's host, which its machines reach under a number that looks public. */
const CLOUD_HOST = "168.63.129.16";
/** All that is given out of IPv6 (RFC 4291 §2.4). The registries name some of the rest, and the rest is nobody's. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/** Whether a connection to this address leaves for the public internet; false also for what is no address. */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  if (address?.range() !== "unicast") return false;
  return address instanceof ipaddr.IPv4
    ? address.toString() !== CLOUD_HOST
    : address.match(GLOBAL_UNICAST) && !isIsatap(address);
}

/** RFC 5214 §6.1: under any prefix, an interface id that is an IPv4 address, which a router on the way would unpack. */
function isIsatap(address: ipaddr.IPv6): boolean {
  const [flags, ...mark] = address.toByteArray().slice(8, 12);
  return (flags! & ~2) === 0 && mark.join() === "0,94,254";
}
