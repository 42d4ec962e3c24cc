/**
 * Signatures of payment events: HMAC-SHA256 of the raw body with a shared secret, in lower-case hex, as Razorpay makes
 * them. Verify the bytes as received; parsing and re-serializing changes the signature.
 */
import { Buffer } from "node:buffer";

const HMAC = { name: "HMAC", hash: "SHA-256" };
const SIGNATURE = /^[0-9a-f]{64}$/;

/** Imports the secrets as keys. An empty secret is an error, because anyone could sign with an empty key. */
export function importSecrets(secrets: readonly string[]): Promise<CryptoKey[]> {
  return Promise.all(
    secrets.map((secret) =>
      crypto.subtle.importKey("raw", new TextEncoder().encode(secret), HMAC, false, ["sign", "verify"])
    ),
  );
}

/** Whether one of the keys made the signature. Tries every key, because timing must not reveal the matching one. */
export async function isSigned(
  body: BufferSource,
  { signature, keys }: { signature: string; keys: readonly CryptoKey[] },
): Promise<boolean> {
  if (!SIGNATURE.test(signature)) return false;
  const bytes = Buffer.from(signature, "hex");
  const verdicts = await Promise.all(keys.map((key) => crypto.subtle.verify("HMAC", key, bytes, body)));
  return verdicts.includes(true);
}

/** The signature that the payment provider would send with a body. */
export async function signBody(body: BufferSource, secret: string): Promise<string> {
  const [key] = await importSecrets([secret]);
  return Buffer.from(await crypto.subtle.sign("HMAC", key!, body)).toString("hex");
}
