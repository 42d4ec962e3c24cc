/**
 * Reads one HTTP/1.1 response (RFC 9112), within limits, from a connection that carries no other response. Rejects
 * everything that two parsers might read differently (two lengths, folded headers, bare line feeds).
 */
import { FetchRefused } from "./refusal.ts";

export interface HttpResponse {
  status: number;
  headers: Headers;
  body: Uint8Array;
}

/** The next bytes of a connection; null at its end. */
export type ReadBytes = () => Promise<Uint8Array | null>;

/** Status line, headers, interim responses and trailers together. */
const MAX_HEAD_BYTES = 16 * 1024;
/** Sixteen hexadecimal digits and room for extensions, which are unused in practice. */
const MAX_CHUNK_LINE_BYTES = 256;

/**
 * @param options.maxBytes limit of the body.
 * @throws {FetchRefused} `malformed`, `cut_short`, `too_large`, or `encoded` if the body is compressed although the
 * request did not allow it
 */
export async function readResponse(read: ReadBytes, { maxBytes }: { maxBytes: number }): Promise<HttpResponse> {
  const source = new ByteSource(read);
  const head = new Budget(MAX_HEAD_BYTES);
  let status: number;
  let headers: Headers;
  do {
    status = await readStatus(source, head);
    headers = await readHeaders(source, head);
  } while (status < 200);
  if (!/^(identity)?$/i.test(headers.get("content-encoding") ?? "")) throw new FetchRefused("encoded");
  return { status, headers, body: await readBody(source, { status, headers, maxBytes, head }) };
}

async function readStatus(source: ByteSource, head: Budget): Promise<number> {
  const [, status] = /^HTTP\/1\.[01] ([1-5]\d\d)( .*)?$/.exec(await source.line(head)) ?? [];
  // We never requested another protocol.
  if (!status || status === "101") throw new FetchRefused("malformed");
  return Number(status);
}

async function readHeaders(source: ByteSource, head: Budget): Promise<Headers> {
  const headers = new Headers();
  for (let line = await source.line(head); line !== ""; line = await source.line(head)) {
    const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):(.*)$/.exec(line) ?? [];
    if (name === undefined || value!.includes("\0")) throw new FetchRefused("malformed");
    // `Headers` would remove the surrounding spaces in quadratic time.
    headers.append(name, value!.trim());
  }
  return headers;
}

/** RFC 9112 §6.3, for responses to methods whose response has a body. */
async function readBody(
  source: ByteSource,
  { status, headers, maxBytes, head }: { status: number; headers: Headers; maxBytes: number; head: Budget },
): Promise<Uint8Array> {
  const length = headers.get("content-length");
  const coding = headers.get("transfer-encoding");
  if (status === 204 || status === 304) return new Uint8Array();
  const body = new Body(maxBytes);
  if (coding !== null) {
    if (length !== null || coding.toLowerCase() !== "chunked") throw new FetchRefused("malformed");
    await readChunks(source, body, head);
  } else if (length !== null) {
    if (!/^\d{1,15}$/.test(length)) throw new FetchRefused("malformed");
    await source.copy(Number(length), body);
  } else {
    await source.copyRest(body);
  }
  return body.bytes();
}

async function readChunks(source: ByteSource, body: Body, head: Budget): Promise<void> {
  while (true) {
    const line = await source.line(new Budget(MAX_CHUNK_LINE_BYTES));
    const [, size] = /^([0-9a-f]{1,8})[ \t]*(;.*)?$/i.exec(line) ?? [];
    if (size === undefined) throw new FetchRefused("malformed");
    if (parseInt(size, 16) === 0) break;
    await source.copy(parseInt(size, 16), body);
    if (await source.line(new Budget(2)) !== "") throw new FetchRefused("malformed");
  }
  await readHeaders(source, head);
}

/** How many more bytes the lines may take. */
class Budget {
  constructor(public left: number) {}
}

/** Collects a body up to its limit. */
class Body {
  readonly #parts: Uint8Array[] = [];
  #length = 0;
  constructor(readonly maxBytes: number) {}

  /** Rejects an announced length over the limit before reading. */
  expect(length: number): void {
    if (this.#length + length > this.maxBytes) throw new FetchRefused("too_large");
  }

  add(part: Uint8Array): void {
    this.expect(part.length);
    this.#parts.push(part);
    this.#length += part.length;
  }

  bytes(): Uint8Array {
    return concat(this.#parts);
  }
}

class ByteSource {
  /** Received from the connection but not consumed yet. */
  #waiting: Uint8Array = new Uint8Array();
  constructor(readonly read: ReadBytes) {}

  /** The next line without its line end; Latin-1, like header values. */
  async line(budget: Budget): Promise<string> {
    // Searches and copies every chunk only once, however small.
    const parts: Uint8Array[] = [];
    let length = 0;
    let end = this.#waiting.indexOf(LF);
    while (end < 0 && length + this.#waiting.length <= budget.left) {
      parts.push(this.#waiting);
      length += this.#waiting.length;
      this.#waiting = await this.#more();
      end = this.#waiting.indexOf(LF);
    }
    if (end < 0) throw new FetchRefused("malformed");
    const bytes = concat([...parts, this.#waiting.subarray(0, end)]);
    this.#waiting = this.#waiting.subarray(end + 1);
    budget.left -= bytes.length + 1;
    if (budget.left < 0 || bytes.at(-1) !== CR) throw new FetchRefused("malformed");
    const line = String.fromCharCode(...bytes.subarray(0, -1));
    if (line.includes("\r")) throw new FetchRefused("malformed");
    return line;
  }

  async copy(length: number, body: Body): Promise<void> {
    body.expect(length);
    let left = length;
    while (left > 0) {
      if (this.#waiting.length === 0) this.#waiting = await this.#more();
      const part = this.#waiting.subarray(0, left);
      this.#waiting = this.#waiting.subarray(part.length);
      left -= part.length;
      body.add(part);
    }
  }

  async copyRest(body: Body): Promise<void> {
    body.add(this.#waiting);
    for (let part = await this.read(); part; part = await this.read()) body.add(part);
  }

  async #more(): Promise<Uint8Array> {
    const part = await this.read();
    if (!part) throw new FetchRefused("cut_short");
    return part;
  }
}

const CR = 13;
const LF = 10;

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
