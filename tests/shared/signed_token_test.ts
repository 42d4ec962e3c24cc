import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { keyedHash, openToken, readToken, signToken } from "../../shared/signed_token.ts";

const [OLD, NEW] = ["o".repeat(32), "n".repeat(32)];
const NOW = new Date("2026-11-20T10:00:00Z");
const expiresAt = new Date(NOW.getTime() + 60_000);
const claims = { sub: "mira", n: 1 };

Deno.test("readToken() returns the claims until the token expires, under any of the secrets", async () => {
  const token = await signToken([OLD], "test", { claims, expiresAt });
  assertEquals(await readToken([NEW, OLD], "test", { token, at: NOW }), { ...claims, exp: expiresAt.getTime() / 1000 });
  assertEquals(await readToken([NEW], "test", { token, at: NOW }), null);
  assertEquals(await readToken([OLD], "test", { token, at: expiresAt }), null);
});

Deno.test("a token of one purpose is invalid for another", async () => {
  const token = await signToken([NEW], "test", { claims, expiresAt });
  for (const label of ["", "tes", "test.", "test2"]) assertEquals(await openToken([NEW], label, token), null, label);
});

Deno.test("openToken() refuses anything but our exact tokens", async () => {
  const token = await signToken([NEW], "test", { claims, expiresAt });
  const [body, signature] = token.split(".") as [string, string];
  const forged = btoa(JSON.stringify({ sub: "other", exp: 9e9 })).replaceAll("=", "");
  for (
    const wrong of [
      "",
      ".",
      "a.b",
      body,
      `${body}.`,
      `.${signature}`,
      `${token}.x`,
      `${forged}.${signature}`,
      `${body}.${signature.slice(1)}`,
      `${body}.${signature}A`,
      `${body}.!!!`,
      `${body}é.${signature}`,
    ]
  ) assertEquals(await openToken([NEW], "test", wrong), null, wrong);
  assert(await openToken([NEW], "test", token));
});

Deno.test("keyedHash() depends on key, purpose and value and contains none of them", async () => {
  const hash = await keyedHash([NEW], "mail", "mira@example.com");
  assertEquals(hash, await keyedHash([NEW, OLD], "mail", "mira@example.com"));
  assertEquals(hash.length, 43);
  assertNotEquals(hash, await keyedHash([OLD], "mail", "mira@example.com"));
  assertNotEquals(hash, await keyedHash([NEW], "code", "mira@example.com"));
  assertNotEquals(hash, await keyedHash([NEW], "mail", "mira@example.org"));
});
