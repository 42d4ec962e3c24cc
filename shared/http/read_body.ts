/** Reads a request body up to a limit, so that a large one costs no more than a small one. */
import { AppError } from "../errors.ts";
import { BodyReader } from "./body_reader.ts";

/**
 * The raw bytes of the body.
 * @throws {AppError} `payload_too_large`
 */
export const readBody = async (request: Request, maxBytes: number): Promise<ArrayBuffer> =>
  (await readWhole(request, maxBytes)).bytes();

/**
 * The body as text (UTF-8; malformed bytes become U+FFFD).
 * @throws {AppError} `payload_too_large`
 */
export const readText = async (request: Request, maxBytes: number): Promise<string> =>
  (await readWhole(request, maxBytes)).text();

async function readWhole(request: Request, maxBytes: number): Promise<BodyReader> {
  const body = new BodyReader(request);
  if (await body.readUpTo(maxBytes)) return body;
  await body.close();
  throw new AppError("payload_too_large", `The request body must not exceed ${maxBytes} bytes.`);
}
