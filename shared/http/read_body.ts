/** Reads a request's body and stops at its limit, so that a large one costs no more than a small one. */
import { AppError } from "../errors.ts";

/**
 * The raw bytes of the body. They are counted as they arrive: a declared length is not believed.
 * @throws {AppError} `payload_too_large`
 */
export async function readBody(request: Request, maxBytes: number): Promise<ArrayBuffer> {
  const chunks: BlobPart[] = [];
  let length = 0;
  // Leaving the loop cancels the body: what is over the limit is not waited for.
  for await (const chunk of request.body ?? []) {
    length += chunk.byteLength;
    if (length > maxBytes) {
      throw new AppError("payload_too_large", `The request body may have ${maxBytes} bytes at most.`);
    }
    chunks.push(chunk);
  }
  return await new Blob(chunks).arrayBuffer();
}

/**
 * The body as text (UTF-8; malformed bytes become U+FFFD).
 * @throws {AppError} `payload_too_large`
 */
export async function readText(request: Request, maxBytes: number): Promise<string> {
  return new TextDecoder().decode(await readBody(request, maxBytes));
}
