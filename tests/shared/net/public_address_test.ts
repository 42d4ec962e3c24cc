import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { isPublicAddress } from "../../../shared/net/public_address.ts";

/** Forbidden addresses, with their kinds. */
const REFUSED: Record<string, readonly string[]> = {
  "this machine": ["127.0.0.1", "127.0.0.0", "127.255.255.255", "0.0.0.0", "0.255.255.255", "::1", "::"],
  "private networks": [
    ...["10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255"],
    ...["fc00::", "fd00:ec2::254", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fec0::1", "feff::1"],
  ],
  "link-local, metadata services": ["169.254.0.0", "169.254.169.254", "169.254.255.255", "fe80::1", "febf:ffff::1"],
  "carriers' networks": ["100.64.0.0", "100.100.100.200", "100.127.255.255"],
  "a cloud's host": ["168.63.129.16"],
  "multicast and broadcast": ["224.0.0.1", "239.255.255.255", "255.255.255.255", "ff02::1", "ff0e::1"],
  "reserved": ["240.0.0.1", "254.255.255.255", "4000::1", "5f00::1", "9000::1", "::7f00:1", "0:0:1::"],
  "protocol assignments": [
    ...["192.0.0.0", "192.0.0.8", "192.0.0.170", "192.0.0.192", "192.0.0.255", "192.88.99.1", "192.31.196.1"],
    ...["192.52.193.1", "192.175.48.1", "2001:1::1", "2001:2::1", "2001:20::1", "2001:1ff:ffff::1", "2620:4f:8000::1"],
  ],
  "documentation and benchmarks": [
    ...["192.0.2.0", "192.0.2.255", "198.51.100.1", "203.0.113.255", "198.18.0.0", "198.19.255.255"],
    ...["2001:db8::1", "2001:db8:ffff:ffff::1", "3fff::1", "3fff:fff:ffff::1", "100::1", "100:0:0:1::1"],
  ],
  "IPv4-mapped and -compatible": [
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:8.8.8.8",
    "::ffff:0:8.8.8.8",
    "::8.8.8.8",
  ],
  "NAT64": ["64:ff9b::169.254.169.254", "64:ff9b::8.8.8.8", "64:ff9b:1::1", "64:ff9b:1:ffff::10.0.0.1"],
  "6to4": ["2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:808:808::1"],
  "Teredo": ["2001::1", "2001:0:808:808::1", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff"],
  "ISATAP": ["2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:192.168.0.1"],
  "no address": [
    "",
    "localhost",
    "example.com",
    "0x7f000001",
    "2130706433",
    "127.1",
    "0177.0.0.1",
    "fe80::1%eth0",
    "[::1]",
    "8.8.8.8:53",
    "8.8.8.08",
  ],
};

const PUBLIC = [
  ...[
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
  ],
  ...[
    "160.79.104.10",
    "168.63.129.15",
    "168.63.129.17",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
  ],
  ...["191.255.255.255", "192.0.1.0", "192.0.3.0", "192.88.98.255", "192.88.100.0", "192.167.255.255", "192.169.0.0"],
  ...[
    "198.17.255.255",
    "198.20.0.0",
    "198.51.99.255",
    "198.51.101.0",
    "203.0.112.255",
    "203.0.114.0",
    "223.255.255.255",
  ],
  ...[
    "2000::1",
    "2001:200::1",
    "2001:db7:ffff::1",
    "2001:db9::1",
    "2001:4860:4860::8888",
    "2003::1",
    "2606:4700:4700::1111",
  ],
  ...["2620:4f:7fff::1", "2620:4f:8001::1", "2a00:1450:4001::200e", "3ffe::1", "3fff:1000::1"],
];

for (const [what, addresses] of Object.entries(REFUSED)) {
  Deno.test(`isPublicAddress() refuses ${what}`, () => {
    for (const address of addresses) assertEquals(isPublicAddress(address), false, address);
  });
}

Deno.test("isPublicAddress() accepts the neighbors of every block", () => {
  for (const address of PUBLIC) assertEquals(isPublicAddress(address), true, address);
});

Deno.test("isPublicAddress() refuses every way to embed an IPv4 address in an IPv6 one", () => {
  const prefixes = ["::", "::ffff:", "::ffff:0:", "64:ff9b::", "64:ff9b:1::", "fe80::5efe:", "2a00::5efe:"];
  fc.assert(fc.property(fc.constantFrom(...prefixes), fc.ipV4(), (prefix, inside) => {
    assertEquals(isPublicAddress(prefix + inside), false);
  }));
  fc.assert(fc.property(fc.ipV4(), (inside) => {
    const hex = inside.split(".").map((part) => Number(part).toString(16).padStart(2, "0"));
    assertEquals(isPublicAddress(`2002:${hex[0]}${hex[1]}:${hex[2]}${hex[3]}::1`), false);
  }));
});
