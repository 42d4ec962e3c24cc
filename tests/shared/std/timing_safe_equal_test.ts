import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import { assertEquals } from "@std/assert";

const utf8 = new TextEncoder();

Deno.test("timingSafeEqual() compares bytes in any view, and returns false for different lengths", () => {
  const whole = utf8.encode("a secret");
  const part = utf8.encode("not a secret!").subarray(4, 12);
  for (
    const [a, b, equal] of [
      [whole, part, true],
      [whole, part.slice().buffer, true],
      [new DataView(whole.buffer), part, true],
      [new Uint16Array(whole.buffer), part, true],
      [new Uint8Array(new SharedArrayBuffer(8)), new Uint8Array(8), true],
      [new SharedArrayBuffer(8), new Uint8Array(8), true],
      [whole, utf8.encode("a secreT"), false],
      [whole, utf8.encode("A secret"), false],
      [whole, utf8.encode("a secre"), false],
      [whole, new Uint8Array(), false],
      [new Uint8Array(), new ArrayBuffer(0), true],
    ] as const
  ) {
    assertEquals([timingSafeEqual(a, b), timingSafeEqual(b, a)], [equal, equal]);
  }
});
