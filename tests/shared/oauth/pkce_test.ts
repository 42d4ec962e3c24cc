import { assertEquals } from "@std/assert";
import { isCodeChallenge, provesChallenge } from "../../../shared/oauth/pkce.ts";

// RFC 7636 appendix B.
const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

Deno.test("provesChallenge() accepts the verifier behind the challenge", () => {
  assertEquals(provesChallenge(VERIFIER, CHALLENGE), true);
});

Deno.test("provesChallenge() refuses other and malformed verifiers", () => {
  const wrong = [
    VERIFIER.replace("d", "e"),
    CHALLENGE,
    "a".repeat(42),
    "a".repeat(129),
    `${VERIFIER}=`,
    `${VERIFIER}\n`,
    "",
  ];
  for (const verifier of wrong) assertEquals(provesChallenge(verifier, CHALLENGE), false, verifier);
  const long = "~".repeat(128);
  assertEquals(provesChallenge(long, CHALLENGE), false);
});

Deno.test("provesChallenge() refuses a verifier sent as its own challenge, which would be the plain method", () => {
  assertEquals(provesChallenge(VERIFIER, VERIFIER), false);
});

Deno.test("isCodeChallenge() requires 43 characters of base64url", () => {
  assertEquals(isCodeChallenge(CHALLENGE), true);
  for (const text of ["", CHALLENGE.slice(1), `${CHALLENGE}A`, CHALLENGE.replace("-", "+"), `${CHALLENGE.slice(1)}=`]) {
    assertEquals(isCodeChallenge(text), false, text);
  }
});
