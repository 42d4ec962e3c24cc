/**
 * `timingSafeEqual` with the signature of `@std/crypto`, implemented with `node:crypto`. import_map.json maps
 * `@std/crypto/timing-safe-equal` to it; where JSR is available, map it to `jsr:@std/crypto@1/timing-safe-equal` and
 * delete this file.
 */
import { timingSafeEqual as compare } from "node:crypto";

/**
 * Whether two byte sequences are equal, in time that depends only on their length. Timing reveals different lengths,
 * so compare digests if the length is secret.
 */
export function timingSafeEqual(a: ArrayBufferView | ArrayBufferLike, b: ArrayBufferView | ArrayBufferLike): boolean {
  return a.byteLength === b.byteLength && compare(bytesOf(a), bytesOf(b));
}

const bytesOf = (data: ArrayBufferView | ArrayBufferLike): Uint8Array =>
  ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
