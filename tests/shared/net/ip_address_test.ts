import { isIPv6 } from "node:net";
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { parseAddress } from "../../../shared/net/ip_address.ts";

const bytes = (text: string) => parseAddress(text)?.toByteArray();

Deno.test("parseAddress() reads the standard notation of both families", () => {
  assertEquals(bytes("192.0.2.255"), [192, 0, 2, 255]);
  assertEquals(bytes("::"), Array(16).fill(0));
  assertEquals(bytes("::1"), [...Array(15).fill(0), 1]);
  assertEquals(bytes("2001:DB8::a:0"), [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0]);
  assertEquals(bytes("::ffff:192.0.2.1"), [...Array(10).fill(0), 255, 255, 192, 0, 2, 1]);
});

const NOT_PLAIN = [
  ...["", "1", "1.2.3", "1.2.3.4.5", "1.2.3.4.", ".1.2.3", "1..2.3", "256.1.1.1", "1.2.3.1000", "127.1", "2130706433"],
  ...[
    "0x7f.0.0.1",
    "0x7f000001",
    "0177.0.0.1",
    "01.2.3.4",
    "1.2.3.00",
    "-1.2.3.4",
    "+1.2.3.4",
    "1e1.2.3.4",
    " 1.2.3.4",
  ],
  ...["1.2.3.4\n", "１.2.3.4", "127.0.0.1:80", "127.0.0.1/8", "localhost"],
  ...[":", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", "12345::"],
  ...["g::", "1:2:3:4:5:6:7:", ":1:2:3:4:5:6:7", "[::1]", "fe80::1%eth0", "::1 ", "::0x1", "::1.2.3", "1.2.3.4::"],
  ...["::1.2.3.4:5", "::256.1.1.1", "1:2:3:4:5:6:7:1.2.3.4", "::01.2.3.4"],
];

Deno.test("parseAddress() refuses every other notation", () => {
  for (const text of NOT_PLAIN) assertEquals(parseAddress(text), undefined, text);
});

Deno.test("parseAddress() accepts the IPv6 spellings that the runtime accepts, and reads the right address", () => {
  const part = fc.oneof(
    fc.constantFrom(":", "::", "0", "ffff", "1", "192.0.2.1", "00001", "g"),
    fc.string({ maxLength: 3 }),
  );
  const spelling = fc.oneof(fc.ipV6(), fc.array(part, { maxLength: 12 }).map((parts) => parts.join("")));
  fc.assert(
    fc.property(spelling.filter((text) => !text.includes("%") && text.includes(":")), (text) => {
      assertEquals(bytes(text) !== undefined, isIPv6(text), text);
    }),
    { numRuns: 2000 },
  );
  fc.assert(fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (address) => {
    const groups = Array.from({ length: 8 }, (_, at) => (address[2 * at]! << 8 | address[2 * at + 1]!).toString(16));
    assertEquals(bytes(groups.join(":")), [...address]);
    assertEquals(bytes(`${groups.slice(0, 6).join(":")}:${address.slice(12).join(".")}`), [...address]);
  }));
  assertEquals(bytes("::1.2.3.4"), [...Array(12).fill(0), 1, 2, 3, 4]);
});
