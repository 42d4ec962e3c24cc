/** Reads a request body up to a limit, so that a large one costs no more than a small one. */
import { AppError } from "../errors.ts";

/**
 * The raw bytes of the body. Counted as they arrive: the declared length is not trusted.
 * @throws {AppError} `payload_too_large`
 */
export async function readBody(request: Request, maxBytes: number): Promise<ArrayBuffer> {
  const chunks: BlobPart[] = [];
  let length = 0;
  // Leaving the loop cancels the rest of the body.
  for await (const chunk of request.body ?? []) {
    length += chunk.byteLength;
    if (length > maxBytes) {
      throw new AppError("payload_too_large", `The request body must not exceed ${maxBytes} bytes.`);
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
