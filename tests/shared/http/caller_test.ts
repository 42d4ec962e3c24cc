import { assertEquals } from "@std/assert";
import { readCaller } from "../../../shared/http/caller.ts";

const SECRETS = ["a-secret-of-more-than-thirty-two-bytes", "the-one-before-it-of-thirty-two-bytes"];
const call = (headers: Record<string, string>, frontDoorSecrets = SECRETS) =>
  readCaller(new Headers(headers), { frontDoorSecrets });

Deno.test("readCaller() trusts the edge, otherwise the server in front, and ignores other forwarding headers", async () => {
  const cases: [Record<string, string>, string | undefined][] = [
    [{}, undefined],
    [{ "x-forwarded-for": "198.51.100.7" }, "198.51.100.7"],
    [{ "x-forwarded-for": " 198.51.100.7 , 198.51.100.7" }, "198.51.100.7"],
    [{ "x-forwarded-for": "198.51.100.7, 10.0.0.1" }, "10.0.0.1"],
    [{ "cf-connecting-ip": "203.0.113.9", "x-forwarded-for": "203.0.113.9, 10.0.0.1" }, "203.0.113.9"],
    [{ "cf-connecting-ip": "203.0.113.9", "x-forwarded-for": "198.51.100.7, 203.0.113.9, 10.0.0.1" }, "203.0.113.9"],
    [{ "cf-connecting-ip": "203.0.113.9" }, "203.0.113.9"],
  ];
  for (const [headers, name] of cases) assertEquals((await call(headers))?.name, name, JSON.stringify(headers));
});

Deno.test("readCaller() trusts only a front door that knows the secret", async () => {
  const headers = { "cf-connecting-ip": "203.0.113.9", "x-forwarded-for": "198.51.100.7, 203.0.113.9, 10.0.0.1" };
  for (const secret of SECRETS) {
    assertEquals(await call({ ...headers, "x-front-door-secret": secret }), { name: "198.51.100.7" });
    assertEquals(
      await call({ "cf-connecting-ip": "203.0.113.9", "x-front-door-secret": secret }),
      { name: "203.0.113.9" },
    );
  }
  for (const guess of ["", SECRETS[0]!.slice(1), `${SECRETS}`]) {
    assertEquals(await call({ ...headers, "x-front-door-secret": guess }), { name: "203.0.113.9" });
  }
  assertEquals(await call({ ...headers, "x-front-door-secret": "" }, []), { name: "203.0.113.9" });
});

Deno.test("readCaller() accepts only IP addresses", async () => {
  for (const forged of ["", "unknown", "0x7f.1", "127.1", "a\u00e9", "198.51.100.7:443", "x".repeat(5000)]) {
    assertEquals(await call({ "x-forwarded-for": forged }), undefined);
    assertEquals(await call({ "x-forwarded-for": `${forged}, 10.0.0.1` }), { name: "10.0.0.1" });
  }
});

Deno.test("readCaller() treats an IPv6 /64 as one caller in a /48 network, and IPv4 in either notation", async () => {
  const ip = (address: string) => call({ "x-forwarded-for": address });
  const one = { name: "20010db800010002", network: "20010db80001" };
  assertEquals([await ip("2001:db8:1:2::1"), await ip("2001:DB8:1:2:ffff::9")], [one, one]);
  assertEquals(await ip("2001:db8:1:3::1"), { name: "20010db800010003", network: "20010db80001" });
  assertEquals(await ip("::ffff:198.51.100.7"), { name: "198.51.100.7" });
});
