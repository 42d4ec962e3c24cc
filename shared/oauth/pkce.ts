/** Proof key for code exchange (RFC 7636), S256 only: with `plain`, anyone who sees the request could use the code. */
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import { sha256 } from "../std/sha256.ts";

const utf8 = new TextEncoder();

/** 43 characters of base64url: a SHA-256 digest (§4.2). */
export const isCodeChallenge = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** 43 to 128 unreserved characters (§4.1). */
export const isCodeVerifier = (text: string): boolean => /^[A-Za-z0-9._~-]{43,128}$/.test(text);

/** Whether `verifier` matches `challenge`; a malformed one does not. */
export function provesChallenge(verifier: string, challenge: string): boolean {
  if (!isCodeVerifier(verifier)) return false;
  return timingSafeEqual(utf8.encode(sha256(verifier).toString("base64url")), utf8.encode(challenge));
}
