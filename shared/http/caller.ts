/**
 * Who calls, as far as can be known, to be counted by. Two addresses matter. The hop that reached the platform's gateway is the
 * gateway's own word: hosted, `cf-connecting-ip`, which the edge overwrites whatever was sent; else the last entry of
 * `x-forwarded-for`, which the server in front of us wrote. For whom that hop says it forwards is the first entry: the truth from
 * a front door, which replaces the header, and anybody's invention from anybody else. So a forwarded caller is always counted as
 * "this address, by that hop": a forged entry never uses up what is left to the one it names, and since each hop is counted as a
 * crowd as well (quotas.ts), it gains little. A gateway of one's own without Cloudflare in front must drop `cf-connecting-ip`.
 */
import { parseAddress } from "../net/ip_address.ts";

export interface Caller {
  /** Under which this caller alone is counted. */
  name: string;
  /** The hop that forwards for many; undefined for one who calls directly. */
  crowd?: string;
}

/** Undefined when no gateway says anything: then nobody can be told from anybody, and no caller is limited. */
export function readCaller(headers: Headers): Caller | undefined {
  const forwarded = (headers.get("x-forwarded-for") ?? "").split(",").map(addressOf);
  const hop = addressOf(headers.get("cf-connecting-ip") ?? "") ?? forwarded.at(-1);
  if (hop === undefined) return undefined;
  const claimed = forwarded[0];
  return claimed === undefined || claimed === hop ? { name: hop } : { name: `${claimed} by ${hop}`, crowd: hop };
}

/** One spelling an address; of IPv6 the network, since whoever has one address of it has 2^64 (RFC 6177 §2). */
function addressOf(text: string): string | undefined {
  const bytes = parseAddress(text.trim());
  if (!bytes) return undefined;
  const isMapped = bytes.length === 16 && bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255;
  if (bytes.length === 4 || isMapped) return bytes.slice(-4).join(".");
  return Array.from(bytes.slice(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
