/**
 * Small signed statements that travel through a browser or a mail and back: claims, expiry, one purpose. They are not
 * encrypted, so the bearer can read them.
 */
import { Buffer } from "node:buffer";
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import { hmacSha256 } from "./std/sha256.ts";

const utf8 = new TextEncoder();

/**
 * `<claims>.<signature>`, both base64url; HMAC-SHA256 with the first secret.
 * @param label the purpose. A token of one purpose is invalid for another.
 */
export async function signToken(
  secrets: readonly string[],
  label: string,
  { claims, expiresAt }: { claims: Readonly<Record<string, unknown>>; expiresAt: Date },
): Promise<string> {
  const body = encode(utf8.encode(JSON.stringify({ ...claims, exp: Math.floor(expiresAt.getTime() / 1000) })));
  return `${body}.${encode(await hmac(secrets[0]!, `${label}.${body}`))}`;
}

/** The claims of an unexpired token of this purpose, signed with any of the secrets; otherwise null. */
export async function readToken(
  secrets: readonly string[],
  label: string,
  { token, at }: { token: string; at: Date },
): Promise<Record<string, unknown> | null> {
  const claims = await openToken(secrets, label, token);
  return claims && claims.exp * 1000 > at.getTime() ? claims : null;
}

/**
 * The same, but accepts expired tokens, for callers that distinguish expired from forged ones. `exp` is in epoch
 * seconds.
 */
export async function openToken(
  secrets: readonly string[],
  label: string,
  token: string,
): Promise<Record<string, unknown> & { exp: number } | null> {
  const [body, signature, ...rest] = token.split(".");
  if (!body || !signature || rest.length > 0) return null;
  const given = decode(signature);
  for (const secret of secrets) {
    const expected = await hmac(secret, `${label}.${body}`);
    if (given?.length !== expected.length || !timingSafeEqual(given, expected)) continue;
    return JSON.parse(new TextDecoder().decode(decode(body)!));
  }
  return null;
}

/** A keyed digest for counting personal values without storing them; base64url. */
export async function keyedHash(secrets: readonly string[], label: string, value: string): Promise<string> {
  return encode(await hmac(secrets[0]!, `${label}.${value}`));
}

// Callers need not know whether a key must be imported first.
const hmac = (secret: string, text: string) => Promise.resolve(hmacSha256(secret, text));

const encode = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");

/**
 * Accepts only the spelling that `encode` writes, because padding, white space or spare bits would allow two forms of
 * a token.
 */
function decode(text: string): Uint8Array | null {
  try {
    const bytes = Buffer.from(text, "base64url");
    return encode(bytes) === text ? bytes : null;
  } catch {
    // Deno 2.1 throws on characters that Node skips.
    return null;
  }
}
