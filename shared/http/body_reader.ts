/** Reads a request's body in steps, so that how much of it is read can depend on what is known by then. */

export class BodyReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #parts: Uint8Array[] = [];
  #length = 0;
  #isWhole: boolean;

  constructor(request: Request) {
    this.#reader = request.body?.getReader();
    this.#isWhole = this.#reader === undefined;
  }

  /** Bytes that were read so far. They are counted as they arrive: a declared length is not believed. */
  get length(): number {
    return this.#length;
  }

  /**
   * Reads on to the end of the body, or until there are more bytes than that.
   * @returns whether the body is whole, and no longer.
   * @throws whatever the connection does when it breaks.
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

  /** What was read, as UTF-8; malformed bytes become U+FFFD. */
  text(): string {
    const decoder = new TextDecoder();
    return this.#parts.map((part) => decoder.decode(part, { stream: true })).join("") + decoder.decode();
  }

  /** Says that nobody wants the rest. */
  async close(): Promise<void> {
    await this.#reader?.cancel().catch(() => {});
  }
}
