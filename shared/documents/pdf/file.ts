/**
 * Finds the objects of a PDF by reading it from its beginning to its end, as viewers do when its table of contents is
 * damaged. Later objects replace earlier ones with the same number, as in an edited file.
 *
 * This folder follows ISO 32000-1 instead of using unpdf 1.8 (pdf.js), because PDFs come from unknown senders and unpdf
 * has no limit of time or memory: on Deno 2.1.4 a file of 757 bytes took 10 s and 2.6 GB. Here one budget limits all
 * steps and bytes, and the same file takes less than 0.5 s and 80 MB. The cost: text in fonts without a table of
 * letters stays unread, and LZW and encrypted files are refused.
 */
import { type Budget, PdfRefused } from "./budget.ts";
import { toLetters, unfilter } from "./filters.ts";
import { type Dict, isDict, nameIn, Ref, type Value, ValueReader, Word } from "./values.ts";

export interface Stream {
  dict: Dict;
  from: number;
  to: number;
}
export type PdfObject = Value | Stream;

export const isStream = (value: unknown): value is Stream =>
  typeof value === "object" && value !== null && "dict" in value && "from" in value;

const MOST_OBJECTS = 60_000;
const MOST_HOPS = 8;
/** An object, or the end of a section with the root of all. */
const STARTS = /(?<![\d.])(\d{1,8})[\0\t\n\f\r ]{1,8}\d{1,5}[\0\t\n\f\r ]{1,8}obj(?![a-z])|\btrailer\b/g;
const STREAM = /[\0\t\n\f\r ]{0,8}stream(?:\r\n|\n|\r)/y;

export class PdfFile {
  readonly objects = new Map<number, PdfObject>();
  /** The root of the last section. */
  root: Value | undefined;
  readonly #bytes: Uint8Array;
  readonly #text: string;
  readonly #unpacked = new Map<Stream, Uint8Array | undefined>();

  /** @throws {PdfRefused} when it is encrypted, too complex, or not a PDF */
  constructor(bytes: Uint8Array, readonly budget: Budget) {
    this.#bytes = bytes;
    // Faster than decoding each byte, and equal except for 27 letters within texts.
    this.#text = new TextDecoder("windows-1252").decode(bytes);
    const starts = new RegExp(STARTS);
    const reader = new ValueReader(this.#text, budget);
    for (let start = starts.exec(this.#text); start; start = starts.exec(this.#text)) {
      reader.at = starts.lastIndex;
      const value = reader.next() ?? null;
      if (start[1] === undefined) this.#takeTrailer(value);
      else {
        const object = this.#withStream(value, reader.at);
        this.#keep(Number(start[1]), object);
        if (isStream(object)) {
          reader.at = object.to;
          const type = nameIn(object.dict.get("Type"));
          if (type === "XRef") this.#takeTrailer(object.dict);
          if (type === "ObjStm") this.#unpackObjects(object);
        }
      }
      starts.lastIndex = Math.max(reader.at, starts.lastIndex);
    }
    if (this.objects.size === 0) throw new PdfRefused("broken");
  }

  #keep(number: number, object: PdfObject): void {
    this.objects.set(number, object);
    if (this.objects.size > MOST_OBJECTS) throw new PdfRefused("complex");
  }

  #takeTrailer(value: Value): void {
    if (!isDict(value)) return;
    if (value.has("Encrypt")) throw new PdfRefused("encrypted");
    this.root = value.get("Root") ?? this.root;
  }

  /** The length may be wrong, or in a later object; in both cases, search for the end. */
  #withStream(dict: Value, at: number): PdfObject {
    STREAM.lastIndex = at;
    if (!isDict(dict) || !STREAM.test(this.#text)) return dict;
    const from = STREAM.lastIndex;
    const length = this.get(dict.get("Length"));
    if (
      typeof length === "number" && length >= 0 &&
      /^\s{0,4}endstream/.test(this.#text.slice(from + length, from + length + 16))
    ) {
      return { dict, from, to: from + length };
    }
    const end = this.#text.indexOf("endstream", from);
    return { dict, from, to: end < 0 ? this.#text.length : end };
  }

  /** Objects within a stream: their numbers and offsets come first. */
  #unpackObjects(stream: Stream): void {
    const bytes = this.bytesOf(stream);
    const first = this.get(stream.dict.get("First"));
    if (!bytes || typeof first !== "number") return;
    const reader = new ValueReader(toLetters(bytes), this.budget);
    const places: [number: number, at: number][] = [];
    while (reader.at < first) {
      const [number, at] = [reader.next(), reader.next()];
      if (typeof number !== "number" || typeof at !== "number") break;
      places.push([number, first + at]);
    }
    for (const [number, at] of places) {
      reader.at = at;
      this.#keep(number, reader.next() ?? null);
    }
  }

  /** The value behind a reference; null if there is none. A stream within a dictionary counts as its dictionary. */
  resolve(value: Value | undefined): PdfObject {
    let object: PdfObject = value ?? null;
    for (let hop = 0; object instanceof Ref; hop++) {
      this.budget.spend();
      if (hop === MOST_HOPS) return null;
      object = this.objects.get(object.number) ?? null;
    }
    return object instanceof Word ? null : object;
  }

  get(value: Value | undefined): Value {
    const object = this.resolve(value);
    return isStream(object) ? object.dict : object;
  }

  dictIn(value: Value | undefined): Dict {
    const dict = this.get(value);
    return isDict(dict) ? dict : new Map();
  }

  arrayIn(value: Value | undefined): Value[] {
    const array = this.get(value);
    return Array.isArray(array) ? array : [];
  }

  nameAt(dict: Dict, key: string): string | undefined {
    return nameIn(this.get(dict.get(key)));
  }

  numberAt(dict: Dict, key: string): number | undefined {
    const value = this.get(dict.get(key));
    return typeof value === "number" ? value : undefined;
  }

  /**
   * The unpacked content; undefined for a picture or a damaged stream. Each stream is unpacked once, however often it
   * is used.
   */
  bytesOf(stream: Stream): Uint8Array | undefined {
    if (!this.#unpacked.has(stream)) {
      const dict: Dict = new Map();
      for (const key of ["Filter", "F", "DecodeParms", "DP"]) {
        const value = this.get(stream.dict.get(key));
        if (value !== null) dict.set(key, Array.isArray(value) ? value.map((one) => this.get(one)) : value);
      }
      this.#unpacked.set(stream, unfilter(dict, this.#bytes.subarray(stream.from, stream.to), this.budget));
    }
    return this.#unpacked.get(stream);
  }
}
