/**
 * Who calls, as far as can be known, to be counted by. The hop that reached the platform's gateway is the gateway's own word: hosted,
 * `cf-connecting-ip`, which the edge overwrites whatever was sent; else the last entry of `x-forwarded-for`, which the server in front of us
 * wrote. For whom that hop says it forwards is the first entry: the truth from a front door of ours, which replaces the header and proves itself
 * by a secret, and anybody's invention from anybody else, who is then the caller. A gateway of one's own without Cloudflare in front must drop
 * `cf-connecting-ip`.
 */
import { Buffer } from "node:buffer";
import ipaddr from "ipaddr.js";
import type { Config } from "../config.ts";
import { parseAddress } from "../net/ip_address.ts";
import { FRONT_DOOR_HEADER } from "../routes.ts";
import { isOneOf } from "./caller_secret.ts";

export interface Caller {
  /** Under which this caller alone is counted: an IPv4 address, or a /64 of IPv6, since whoever has one address of it has all (RFC 6177 §2). */
  name: string;
  /** The /48 that an IPv6 caller is in: providers give whole ones to anybody who asks. */
  network?: string;
}

/** Undefined when no gateway says anything: then nobody can be told from anybody, and no caller is limited. */
export async function readCaller(
  headers: Headers,
  { frontDoorSecrets }: Pick<Config, "frontDoorSecrets">,
): Promise<Caller | undefined> {
  const forwarded = (headers.get("x-forwarded-for") ?? "").split(",").map(readAddress);
  const hop = readAddress(headers.get("cf-connecting-ip") ?? "") ?? forwarded.at(-1);
  const proof = headers.get(FRONT_DOOR_HEADER);
  const isFrontDoor = proof !== null && await isOneOf([proof], frontDoorSecrets);
  return isFrontDoor ? forwarded[0] ?? hop : hop;
}

/** One spelling an address. */
function readAddress(text: string): Caller | undefined {
  const address = parseAddress(text.trim());
  if (!address) return undefined;
  if (address instanceof ipaddr.IPv4) return { name: address.toString() };
  if (address.isIPv4MappedAddress()) return { name: address.toIPv4Address().toString() };
  const prefix = (length: number) => Buffer.from(address.toByteArray().slice(0, length)).toString("hex");
  return { name: prefix(8), network: prefix(6) };
}
