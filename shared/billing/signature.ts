/**
 * Signatures of payment events: HMAC-SHA256 of the raw body under a shared secret, in lowercase hex, as Razorpay makes them.
 * Works on the bytes that arrived; a body that was parsed and written again has another signature.
 */
import { Buffer } from "node:buffer";

const HMAC = { name: "HMAC", hash: "SHA-256" };
const SIGNATURE = /^[0-9a-f]{64}$/;

/** Keys of the secrets, none of them empty: an empty one would let anybody sign. */
export function importSecrets(secrets: readonly string[]): Promise<CryptoKey[]> {
  return Promise.all(
    secrets.map((secret) =>
      crypto.subtle.importKey("raw", new TextEncoder().encode(secret), HMAC, false, ["sign", "verify"])
    ),
  );
}

/** Whether one of the keys made the signature. Every key is tried, so that the time taken does not tell which. */
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
