/** Reads the body of a response while it arrives, up to a limit and a deadline, as a whole or line by line. */
import { before } from "../net/deadline.ts";
import { ProviderError } from "./provider_error.ts";

export type Body = ReadableStream<Uint8Array> | null;

/** A line is one charge; real ones are shorter. */
export const MAX_LINE_LENGTH = 250_000;

/** Counts decompressed bytes. @throws {ProviderError} */
export async function* bytesOf(
  body: Body,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  if (!body) return;
  const reader = body.getReader();
  let length = 0;
  try {
    while (true) {
      const { done, value } = await before(signal, reader.read()).catch(() => {
        if (signal.aborted) throw new ProviderError("timeout", "The provider did not respond in time");
        throw new ProviderError("upstream", "The response was cut off");
      });
      if (done) return;
      length += value.length;
      if (length > maxBytes) throw new ProviderError("bad_shape", "The response is too large");
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** @throws {ProviderError} */
export async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  for await (const part of decoded(bytes)) text += part;
  return text;
}

/** Without line ends and empty lines. @throws {ProviderError} */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let begun = "";
  for await (const part of decoded(bytes)) {
    // The pending part contains no line end, so search only the new part.
    const [rest, ...lines] = part.split("\n") as [string, ...string[]];
    begun += rest;
    if (begun.length > MAX_LINE_LENGTH) throw new ProviderError("bad_shape", "A line of the response is too long");
    for (const line of lines) {
      if (begun.trim()) yield begun.trimEnd();
      begun = line;
    }
  }
  if (begun.trim()) yield begun;
}

async function* decoded(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decode = (part?: Uint8Array) => {
    try {
      return decoder.decode(part, { stream: part !== undefined });
    } catch {
      throw new ProviderError("bad_shape", "The response is not UTF-8");
    }
  };
  for await (const part of bytes) yield decode(part);
  yield decode();
}
