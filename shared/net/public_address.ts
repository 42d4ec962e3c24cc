/**
 * Which addresses are on the public internet. Whatever else there is (this machine, its network, the metadata service of
 * its cloud, addresses that carry another one inside) is refused by the registries of special-purpose addresses (RFC 6890,
 * IANA's current tables).
 */
import { parseAddress } from "./ip_address.ts";

const IPV4 = [
  "0.0.0.0/8", // this network
  "10.0.0.0/8", // private
  "100.64.0.0/10", // shared by carriers' customers; clouds keep metadata here too
  "127.0.0.0/8", // loopback
  "168.63.129.16/32", // a cloud's host, public by its number only
  "169.254.0.0/16", // link-local; metadata services
  "172.16.0.0/12", // private
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.31.196.0/24", // AS112
  "192.52.193.0/24", // multicast tunnels
  "192.88.99.0/24", // relays of 6to4
  "192.168.0.0/16", // private
  "192.175.48.0/24", // AS112
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, broadcast
];

/** Within global unicast, 2000::/3. Outside it nothing is public: that refuses ::1, IPv4-mapped, NAT64, ULA, link-local, multicast … */
const IPV6 = [
  "2001::/23", // protocol assignments: Teredo, ORCHID, benchmarks
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4, an IPv4 address inside
  "2620:4f:8000::/48", // AS112
  "3fff::/20", // documentation
];

/** Whether a connection to this address leaves for the public internet; false also for what is no address. */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  if (!address) return false;
  if (address.length === 4) return !IPV4_BLOCKS.some((block) => contains(block, address));
  return contains(GLOBAL_UNICAST, address) && !isIsatap(address) &&
    !IPV6_BLOCKS.some((block) => contains(block, address));
}

interface Block {
  prefix: Uint8Array;
  bits: number;
}

function parseBlock(text: string): Block {
  const [prefix, bits] = text.split("/");
  return { prefix: parseAddress(prefix!)!, bits: Number(bits) };
}

const IPV4_BLOCKS = IPV4.map(parseBlock);
const IPV6_BLOCKS = IPV6.map(parseBlock);
const GLOBAL_UNICAST = parseBlock("2000::/3");

function contains({ prefix, bits }: Block, address: Uint8Array): boolean {
  return prefix.every((byte, index) => {
    const mask = 0xff00 >> Math.min(8, Math.max(0, bits - 8 * index)) & 0xff;
    return ((byte ^ address[index]!) & mask) === 0;
  });
}

/** RFC 5214 §6.1: under any prefix, an interface id that is an IPv4 address, which a router on the way would unpack. */
function isIsatap(address: Uint8Array): boolean {
  return (address[8]! & ~2) === 0 && address[9] === 0 && address[10] === 0x5e && address[11] === 0xfe;
}
