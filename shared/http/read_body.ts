/** Reads a request body up to a limit, so an oversized body costs no more than an allowed one. */
import { AppError } from "../errors.ts";
import type { AppContext } from "./app.ts";
import { BodyReader } from "./body_reader.ts";

/**
 * The raw bytes of the body.
 * @throws {AppError} `payload_too_large`, and what `BodyReader.readUpTo` throws.
 */
export const readBody = async (c: AppContext, maxBytes: number): Promise<ArrayBuffer> =>
  (await readWhole(c, maxBytes)).bytes();

/**
 * The body as text (UTF-8; malformed bytes become U+FFFD).
 * @throws {AppError} as `readBody`.
 */
export const readText = async (c: AppContext, maxBytes: number): Promise<string> =>
  (await readWhole(c, maxBytes)).text();

/** The body of a request, whose start `admission` has already read. */
export const bodyOf = (c: AppContext): BodyReader => c.get("body") ?? new BodyReader(c.req.raw);

async function readWhole(c: AppContext, maxBytes: number): Promise<BodyReader> {
  const body = bodyOf(c);
  if (await body.readUpTo(maxBytes)) return body;
  await body.close();
  throw new AppError("payload_too_large", `The request body must not exceed ${maxBytes} bytes.`);
}
