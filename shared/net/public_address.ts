/**
 * Identifies addresses on the public internet. Refuses all others (this machine, its network, the cloud's metadata
 * service, addresses that embed another one), by ipaddr.js's copy of the special-purpose registries (RFC 6890) and
 * three additional rules.
 */
import ipaddr from "ipaddr.js";
import { parseAddress } from "./ip_address.ts";

/** Azure's host service, reachable from its machines under a public-looking address. */
const CLOUD_HOST = "168.63.129.16";
/** The only allocated part of IPv6 (RFC 4291 §2.4); the registries do not list all of the rest. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/** Whether a connection to this address goes to the public internet; false if it is not an address. */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  if (address?.range() !== "unicast") return false;
  return address instanceof ipaddr.IPv4
    ? address.toString() !== CLOUD_HOST
    : address.match(GLOBAL_UNICAST) && !isIsatap(address);
}

/** RFC 5214 §6.1: an interface id that embeds an IPv4 address, under any prefix; a router may tunnel to it. */
function isIsatap(address: ipaddr.IPv6): boolean {
  const [flags, ...mark] = address.toByteArray().slice(8, 12);
  return (flags! & ~2) === 0 && mark.join() === "0,94,254";
}
