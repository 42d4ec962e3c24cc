/**
 * Signatures of webhooks according to Standard Webhooks 1.0.0, for sending and receiving. Svix uses the same
 * signatures with other header names.
 */
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";

/** The tolerance for the sender's clock and the maximum age of a delivery. */
const TOLERANCE_MS = 5 * 60_000;

interface Signed {
  id: string;
  /** Seconds since 1970, as text. */
  timestamp: string;
  body: string | Uint8Array;
}

/** The key in a secret; undefined when it is not 24 to 64 bytes of base64 after `whsec_`. */
export function keyOf(secret: string): Buffer | undefined {
  const [, text] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const key = Buffer.from(text ?? "", "base64");
  return key.length >= 24 && key.length <= 64 ? key : undefined;
}

/** @throws for a malformed secret (see {@link keyOf}). */
export function signWebhook(secret: string, { id, timestamp, body }: Signed): string {
  const key = keyOf(secret);
  if (!key) throw new Error("a webhook's secret is malformed");
  return createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
}

/** @param signatures space-separated, each with its version: `v1,<base64>`. */
export function isSignedWebhook(
  signed: Signed,
  { signatures, secrets, at }: { signatures: string; secrets: readonly string[]; at: Date },
): boolean {
  const { id, timestamp } = signed;
  if (!id || !/^\d{1,12}$/.test(timestamp) || Math.abs(at.getTime() - Number(timestamp) * 1000) > TOLERANCE_MS) {
    return false;
  }
  const own = secrets.map((secret) => Buffer.from(`v1,${signWebhook(secret, signed)}`));
  let isSigned = false;
  for (const text of signatures.split(" ").slice(0, 10)) {
    const given = Buffer.from(text);
    for (const one of own) isSigned = given.length === one.length && timingSafeEqual(given, one) || isSigned;
  }
  return isSigned;
}
