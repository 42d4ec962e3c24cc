/**
 * Reads a request body in steps, because the size limit can depend on earlier checks. While waiting for the sender,
 * the request releases its place (place.ts) for a limited time, and only a limited number of requests wait at once
 * (crowd.ts).
 */
import { systemTimer, type Timer } from "../clock.ts";
import { AppError } from "../errors.ts";
import type { Crowd } from "./crowd.ts";
import { overloaded } from "./overloaded.ts";
import { outsidePlace } from "./place.ts";

/** Read from every request before its sender is authenticated. */
export const SHORT_BYTES = 65_536;
/** The longest pause without a byte. */
const STALL_MS = 5_000;
const SHORT_MS = 15_000;
/** A file of 10 MB over a slow line; the platform ends a request after 150 s. */
const LONG_MS = 100_000;

export interface Crowds {
  /** Up to `SHORT_BYTES`. */
  short: Crowd;
  /** Bodies beyond that size. */
  long: Crowd;
}

export class BodyReader {
  readonly #headers: Headers;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #parts: Uint8Array[] = [];
  #length = 0;
  #isWhole: boolean;
  #failure: AppError | undefined;

  /** @param crowds the function's crowds; absent if only callers with a secret reach it. */
  constructor(request: Request, private readonly crowds?: Crowds, private readonly timer: Timer = systemTimer) {
    this.#headers = request.headers;
    this.#reader = request.body?.getReader();
    this.#isWhole = this.#reader === undefined;
  }

  /** Bytes read so far, counted on arrival, because the declared length is not trusted. */
  get length(): number {
    return this.#length;
  }

  /**
   * Reads on until the end of the body or until the limit is exceeded.
   * @returns whether the body is complete and within the limit.
   * @throws {AppError} `invalid_request` when the connection breaks, `request_timeout` when the sender is too slow,
   * `overloaded` when too many bodies are being read.
   */
  async readUpTo(maxBytes: number): Promise<boolean> {
    if (this.#isShortOf(maxBytes)) await outsidePlace(() => this.#read(maxBytes));
    return this.#isWhole && this.#length <= maxBytes;
  }

  #isShortOf(maxBytes: number): boolean {
    return !this.#isWhole && this.#length <= maxBytes;
  }

  async #read(maxBytes: number): Promise<void> {
    const isShort = maxBytes <= SHORT_BYTES;
    const leave = await this.crowds?.[isShort ? "short" : "long"].enter(this.#headers, () => this.#end(overloaded()));
    const tooSlow = () => this.#end(new AppError("request_timeout", "The request arrived too slowly."));
    const cancel = this.timer(isShort ? SHORT_MS : LONG_MS, tooSlow);
    try {
      while (this.#isShortOf(maxBytes)) {
        const cancelStall = this.timer(STALL_MS, tooSlow);
        const { done, value } = await this.#reader!.read().finally(cancelStall);
        if (this.#failure) throw this.#failure;
        if (done) this.#isWhole = true;
        else {
          this.#parts.push(value);
          this.#length += value.length;
        }
      }
    } catch (cause) {
      throw this.#failure ?? new AppError("invalid_request", "The request did not arrive whole.", { cause });
    } finally {
      cancel();
      leave?.();
    }
  }

  /** Cancelling ends the pending read. */
  #end(failure: AppError): void {
    this.#failure ??= failure;
    void this.close();
  }

  /** The bytes read. Concatenated by hand, because a `Blob` takes several times as long for small bodies. */
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
    if (!this.#isWhole) await this.#reader?.cancel().catch(() => {});
  }
}
