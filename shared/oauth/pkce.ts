/** Proof key for code exchange (RFC 7636), S256 only: with `plain`, whoever sees the request could use the code. */
import { Buffer } from "node:buffer";
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";

const utf8 = new TextEncoder();

/** 43 characters of base64url: a SHA-256 digest (§4.2). */
export const isCodeChallenge = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** 43 to 128 unreserved characters (§4.1). */
export const isCodeVerifier = (text: string): boolean => /^[A-Za-z0-9._~-]{43,128}$/.test(text);

/** Whether `verifier` matches `challenge`; a malformed one does not. */
export async function provesChallenge(verifier: string, challenge: string): Promise<boolean> {
  if (!isCodeVerifier(verifier)) return false;
  const digest = await crypto.subtle.digest("SHA-256", utf8.encode(verifier));
  return timingSafeEqual(utf8.encode(Buffer.from(digest).toString("base64url")), utf8.encode(challenge));
}
