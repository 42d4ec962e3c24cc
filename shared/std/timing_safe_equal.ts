/**
 * `timingSafeEqual` with the signature of `@std/crypto`, on `node:crypto`. import_map.json has it under the name
 * `@std/crypto/timing-safe-equal`; where JSR is at hand that entry becomes `jsr:@std/crypto@1/timing-safe-equal`, and this file goes.
 */
import { timingSafeEqual as compare } from "node:crypto";

/**
 * Whether two byte sequences are equal, in a time that depends on their length only. Sequences of different lengths are not equal, which
 * shows in the time: compare digests where the length is a secret.
 */
export function timingSafeEqual(a: ArrayBufferView | ArrayBufferLike, b: ArrayBufferView | ArrayBufferLike): boolean {
  return a.byteLength === b.byteLength && compare(bytesOf(a), bytesOf(b));
}

const bytesOf = (data: ArrayBufferView | ArrayBufferLike): Uint8Array =>
  ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
