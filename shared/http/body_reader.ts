/** Reads a request body in steps, so that the size limit can depend on what is known by then. */

export class BodyReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #parts: Uint8Array[] = [];
  #length = 0;
  #isWhole: boolean;

  constructor(request: Request) {
    this.#reader = request.body?.getReader();
    this.#isWhole = this.#reader === undefined;
  }

  /** Bytes read so far. Counted as they arrive: the declared length is not trusted. */
  get length(): number {
    return this.#length;
  }

  /**
   * Reads on until the end of the body or until the limit is exceeded.
   * @returns whether the body is complete and within the limit.
   * @throws the connection's error when it breaks.
   */
  async readUpTo(maxBytes: number): Promise<boolean> {
    while (!this.#isWhole && this.#length <= maxBytes) {
      const { done, value } = await this.#reader!.read();
      if (done) this.#isWhole = true;
      else {
        this.#parts.push(value);
        this.#length += value.length;
      }
    }
    return this.#isWhole && this.#length <= maxBytes;
  }

  /** The bytes read. By hand: a `Blob` takes several times as long on small bodies. */
  bytes(): ArrayBuffer {
    const bytes = new Uint8Array(this.#length);
    let at = 0;
    for (const part of this.#parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes.buffer;
  }

  /** The bytes read, as UTF-8; malformed bytes become U+FFFD. */
  text(): string {
    const decoder = new TextDecoder();
    return this.#parts.map((part) => decoder.decode(part, { stream: true })).join("") + decoder.decode();
  }

  /** Cancels the rest of the body. */
  async close(): Promise<void> {
    await this.#reader?.cancel().catch(() => {});
  }
}
