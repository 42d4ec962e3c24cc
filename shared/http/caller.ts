/**
 * Identifies the caller for rate limits. The platform's gateway names the IP address that connected to it. When
 * hosted, it is in `cf-connecting-ip`, which the edge always overwrites. Otherwise it is the last entry of
 * `x-forwarded-for`, from the server in front of us. The first entry of that header names the original client. It
 * counts only from our own front door, which replaces the header and authenticates with a secret, because anybody
 * could invent the header. Without the secret, the connecting address itself counts as the caller. A self-hosted
 * gateway without Cloudflare in front must drop `cf-connecting-ip`.
 */
import { Buffer } from "node:buffer";
import ipaddr from "ipaddr.js";
import type { Config } from "../config.ts";
import { parseAddress } from "../net/ip_address.ts";
import { isFromFrontDoor } from "./front_door.ts";

export interface Caller {
  /**
   * The caller's rate-limit key: an IPv4 address or an IPv6 /64, since one subscriber has a whole /64 (RFC 6177 §2).
   */
  name: string;
  /** The /48 of an IPv6 caller, because providers assign a whole /48 on request. */
  network?: string;
}

/** Undefined without a gateway header: callers are then indistinguishable, and none is limited. */
export function readCaller(
  headers: Headers,
  config: Pick<Config, "frontDoorSecrets">,
): Caller | undefined {
  const forwarded = (headers.get("x-forwarded-for") ?? "").split(",");
  const hop = readAddress(headers.get("cf-connecting-ip") ?? "") ?? readAddress(forwarded.at(-1)!);
  return isFromFrontDoor(headers, config) ? readAddress(forwarded[0]!) ?? hop : hop;
}

/** One spelling per IP address. */
function readAddress(text: string): Caller | undefined {
  const address = parseAddress(text.trim());
  if (!address) return undefined;
  if (address instanceof ipaddr.IPv4) return { name: address.toString() };
  if (address.isIPv4MappedAddress()) return { name: address.toIPv4Address().toString() };
  const prefix = (length: number) => Buffer.from(address.toByteArray().slice(0, length)).toString("hex");
  return { name: prefix(8), network: prefix(6) };
}
