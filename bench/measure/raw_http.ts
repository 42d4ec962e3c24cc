/**
 * A small HTTP/1.1 client that keeps its connection. It shares the cores with the servers and PostgreSQL, so its own
 * processor time distorts the measurement, and `fetch` uses several times as much. It supports only the responses of
 * our servers and Node: bodies with a length or in chunks, no trailers, no interim responses.
 */

export interface Answer {
  status: number;
  /** Header lines as received. */
  head: string;
  body: string;
}

export interface Sent {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The bytes of a request, built before the timing starts. */
export function requestBytes({ method = "POST", path, headers = {}, body = "" }: Sent): Uint8Array {
  const length = encoder.encode(body).length;
  const lines = Object.entries({ host: "127.0.0.1", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const size = body || method === "POST" ? `content-length: ${length}\r\n` : "";
  return encoder.encode(`${method} ${path} HTTP/1.1\r\n${lines.join("")}${size}\r\n${body}`);
}

export class Connection {
  #socket: Deno.TcpConn | undefined;
  #bytes = new Uint8Array(64 * 1024);
  #filled = 0;

  constructor(private readonly port: number) {}

  /** Sends one request at a time. @throws if the server closes the connection before it has responded. */
  async send(request: Uint8Array): Promise<Answer> {
    const isReused = this.#socket !== undefined;
    try {
      return await this.#sendOnce(request);
    } catch (thrown) {
      this.close();
      // Servers close idle connections, Node after five seconds.
      if (!isReused || this.#filled > 0) throw thrown;
      return await this.#sendOnce(request);
    }
  }

  async #sendOnce(request: Uint8Array): Promise<Answer> {
    this.#filled = 0;
    this.#socket ??= await this.#connect();
    for (let sent = 0; sent < request.length;) sent += await this.#socket.write(request.subarray(sent));
    let head = "";
    for (let start = -1;;) {
      await this.#read();
      if (start < 0) {
        start = this.#headEnd();
        if (start < 0) continue;
        head = decoder.decode(this.#bytes.subarray(0, start));
      }
      const body = this.#bodyFrom(start, head);
      if (body === undefined) continue;
      if (/^connection: close\r$/im.test(head)) this.close();
      return { status: Number(head.slice(9, 12)), head, body };
    }
  }

  close(): void {
    this.#socket?.close();
    this.#socket = undefined;
  }

  async #connect(): Promise<Deno.TcpConn> {
    const socket = await Deno.connect({ hostname: "127.0.0.1", port: this.port });
    socket.setNoDelay(true);
    return socket;
  }

  async #read(): Promise<void> {
    if (this.#filled === this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    const count = await this.#socket!.read(this.#bytes.subarray(this.#filled));
    if (count === null) throw new Error(`The server on port ${this.port} closed the connection.`);
    this.#filled += count;
  }

  /** The offset of the body; -1 while the head is incomplete. */
  #headEnd(): number {
    const bytes = this.#bytes;
    for (let at = 3; at < this.#filled; at++) {
      if (bytes[at] === 10 && bytes[at - 1] === 13 && bytes[at - 2] === 10 && bytes[at - 3] === 13) return at + 1;
    }
    return -1;
  }

  /** The body, or undefined while it is incomplete. */
  #bodyFrom(start: number, head: string): string | undefined {
    const length = /^content-length: *(\d+)\r$/im.exec(head)?.[1];
    if (length !== undefined) {
      const end = start + Number(length);
      return this.#filled < end ? undefined : decoder.decode(this.#bytes.subarray(start, end));
    }
    if (!/^transfer-encoding: *chunked\r$/im.test(head)) return "";
    const text = decoder.decode(this.#bytes.subarray(start, this.#filled));
    return text.endsWith("0\r\n\r\n") ? joinChunks(this.#bytes.subarray(start, this.#filled)) : undefined;
  }
}

function joinChunks(bytes: Uint8Array): string {
  let joined = "";
  const stream = new TextDecoder();
  for (let at = 0;;) {
    const end = bytes.indexOf(13, at);
    const size = parseInt(decoder.decode(bytes.subarray(at, end)), 16);
    if (size === 0) return joined + stream.decode();
    joined += stream.decode(bytes.subarray(end + 2, end + 2 + size), { stream: true });
    at = end + 2 + size + 2;
  }
}
