import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { hashToken, isRefreshToken, successorOf, tokenPair } from "../../../shared/oauth/tokens.ts";

const SECRET = "one secret of at least 32 bytes, really";
const TOKEN = tokenPair(["a".repeat(43), "b".repeat(43)]).refreshToken;

Deno.test("tokenPair() gives each kind its own prefix", () => {
  assertEquals(tokenPair(["a", "r"]), { accessToken: "exp_at_a", refreshToken: "exp_rt_r" });
  assert(isRefreshToken(TOKEN));
  assert(!isRefreshToken(TOKEN.replace("exp_rt_", "exp_at_")));
  assert(!isRefreshToken(`${TOKEN}x`) && !isRefreshToken(`${TOKEN}\n`) && !isRefreshToken("exp_rt_"));
});

Deno.test("successorOf() returns the same pair again, and a different one for another token or key", async () => {
  const successor = await successorOf(TOKEN, SECRET);
  assertEquals(await successorOf(TOKEN, SECRET), successor);
  assertNotEquals(await successorOf(TOKEN.replace("b", "c"), SECRET), successor);
  assertNotEquals(await successorOf(TOKEN, `${SECRET}!`), successor);
  assert(isRefreshToken(successor.refreshToken));
  assertNotEquals(successor.accessToken.slice(7), successor.refreshToken.slice(7));
});

Deno.test("hashToken() returns the SHA-256 in lower-case hex", () => {
  assertEquals(hashToken("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});
