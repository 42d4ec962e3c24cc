/**
 * SHA-256 and HMAC-SHA256 of short values, with `node:crypto`: WebCrypto hands each value to another thread and back,
 * which takes 35 µs instead of one on Deno 2.1.4 and 2.9.6. Large or slow hashes use WebCrypto.
 */
import { Buffer } from "node:buffer";
import { createHash, createHmac } from "node:crypto";

/** @param value hashed as UTF-8 if it is text */
export const sha256 = (value: string | Uint8Array): Buffer => createHash("sha256").update(value).digest();

/** HMAC-SHA256 (RFC 2104) of a text, both as UTF-8. */
export const hmacSha256 = (secret: string | Buffer, text: string): Buffer =>
  createHmac("sha256", secret).update(text).digest();
