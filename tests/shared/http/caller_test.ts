import { assertEquals } from "@std/assert";
import { readCaller } from "../../../shared/http/caller.ts";

const call = (headers: Record<string, string>) => readCaller(new Headers(headers));

Deno.test("readCaller() believes the edge, else the server in front, and counts a forwarded address by who forwards it", () => {
  const cases: [Record<string, string>, ReturnType<typeof call>][] = [
    [{}, undefined],
    [{ "x-forwarded-for": "198.51.100.7" }, { name: "198.51.100.7" }],
    [{ "x-forwarded-for": " 198.51.100.7 , 198.51.100.7" }, { name: "198.51.100.7" }],
    [{ "x-forwarded-for": "198.51.100.7, 10.0.0.1" }, { name: "198.51.100.7 by 10.0.0.1", crowd: "10.0.0.1" }],
    [{ "cf-connecting-ip": "203.0.113.9", "x-forwarded-for": "203.0.113.9, 10.0.0.1" }, { name: "203.0.113.9" }],
    [{ "cf-connecting-ip": "203.0.113.9", "x-forwarded-for": "198.51.100.7, 203.0.113.9, 10.0.0.1" }, {
      name: "198.51.100.7 by 203.0.113.9",
      crowd: "203.0.113.9",
    }],
    [{ "cf-connecting-ip": "203.0.113.9" }, { name: "203.0.113.9" }],
  ];
  for (const [headers, caller] of cases) assertEquals(call(headers), caller, JSON.stringify(headers));
});

Deno.test("readCaller() takes nothing that is no address", () => {
  for (const forged of ["", "unknown", "0x7f.1", "127.1", "a\u00e9", "198.51.100.7:443", "x".repeat(5000)]) {
    assertEquals(call({ "x-forwarded-for": forged }), undefined);
    assertEquals(call({ "x-forwarded-for": `${forged}, 10.0.0.1` }), { name: "10.0.0.1" });
  }
});

Deno.test("readCaller() takes a network of IPv6 for one caller, and IPv4 in either notation", () => {
  const [one, other] = ["2001:db8:1:2::1", "2001:DB8:1:2:ffff::9"].map((ip) => call({ "x-forwarded-for": ip }));
  assertEquals([one, other], [{ name: "20010db800010002" }, { name: "20010db800010002" }]);
  assertEquals(call({ "x-forwarded-for": "2001:db8:1:3::1" }), { name: "20010db800010003" });
  assertEquals(call({ "x-forwarded-for": "::ffff:198.51.100.7" }), { name: "198.51.100.7" });
});
