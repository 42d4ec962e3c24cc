/** Reads a request's body and stops at its limit, so that a large one costs no more than a small one. */
import { LimitedBytesTransformStream } from "@std/streams/limited-bytes-transform-stream";
import { AppError } from "../errors.ts";

/**
 * The raw bytes of the body. They are counted as they arrive: a declared length is not believed.
 * @throws {AppError} `payload_too_large`
 */
export async function readBody(request: Request, maxBytes: number): Promise<ArrayBuffer> {
  if (!request.body) return new ArrayBuffer(0);
  const limited = request.body.pipeThrough<Uint8Array>(new LimitedBytesTransformStream(maxBytes, { error: true }));
  try {
    return await new Response(limited).arrayBuffer();
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    throw new AppError("payload_too_large", `The request body may have ${maxBytes} bytes at most.`);
  }
}

/**
 * The body as text (UTF-8; malformed bytes become U+FFFD).
 * @throws {AppError} `payload_too_large`
 */
export async function readText(request: Request, maxBytes: number): Promise<string> {
  return new TextDecoder().decode(await readBody(request, maxBytes));
}
