/** Decompresses streams, within the budget. */
import { Buffer } from "node:buffer";
import { Inflate } from "fflate";
import { type Budget, PdfRefused } from "./budget.ts";
import { type Dict, isDict, nameIn, type Value } from "./values.ts";

/** The number of input bytes unpacked at once; they grow at most about a thousandfold. */
const STEP = 4096;
const MOST_FILTERS = 3;

const CHUNK = 8192;

/** One character per byte. On Deno 2.1.4, Buffer needs 400 ms for a megabyte. */
export function toLetters(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += CHUNK) {
    parts.push(String.fromCharCode.apply(null, bytes.subarray(at, at + CHUNK) as unknown as number[]));
  }
  return parts.join("");
}

/**
 * @param dict its values, none of them a reference
 * @returns undefined for damaged data, for a picture's compression and for an unknown one
 */
export function unfilter(dict: Dict, raw: Uint8Array, budget: Budget): Uint8Array | undefined {
  const filters = listOf(dict.get("Filter") ?? dict.get("F"));
  const parameters = listOf(dict.get("DecodeParms") ?? dict.get("DP"));
  if (filters.length > MOST_FILTERS) throw new PdfRefused("complex");
  let bytes: Uint8Array | undefined = raw;
  for (const [i, filter] of filters.entries()) {
    const filterName = nameIn(filter) ?? "";
    if (filterName === "FlateDecode" || filterName === "Fl") bytes = predicted(inflate(bytes, budget), parameters[i]);
    else if (filterName === "ASCII85Decode" || filterName === "A85") bytes = ascii85(bytes);
    else if (filterName === "ASCIIHexDecode" || filterName === "AHx") bytes = asciiHex(bytes);
    else return undefined;
    if (!bytes) return undefined;
  }
  budget.unpack(bytes.length);
  return bytes;
}

const listOf = (value: Value | undefined): Value[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];

/** Returns the complete part, because writers often omit the end. */
function inflate(bytes: Uint8Array, budget: Budget): Uint8Array {
  const parts: Uint8Array[] = [];
  // zlib data starts with two bytes and ends with a checksum, which is ignored.
  const inflater = new Inflate((part) => {
    budget.unpack(part.length);
    parts.push(part);
  });
  try {
    for (let at = 2; at < bytes.length; at += STEP) inflater.push(bytes.subarray(at, at + STEP));
  } catch (thrown) {
    if (thrown instanceof PdfRefused) throw thrown;
  }
  return new Uint8Array(Buffer.concat(parts));
}

/** PNG's predictors (RFC 2083, 6), which object streams and some page contents use. */
function predicted(bytes: Uint8Array, parameters: Value | undefined): Uint8Array | undefined {
  const read = (name: string, otherwise: number) => {
    const value = isDict(parameters) ? parameters.get(name) : undefined;
    return typeof value === "number" && value > 0 && value < 100_000 ? Math.trunc(value) : otherwise;
  };
  const predictor = read("Predictor", 1);
  if (predictor === 1) return bytes;
  if (predictor < 10) return undefined;
  const before = Math.max(1, (read("Colors", 1) * read("BitsPerComponent", 8)) >> 3);
  const width = Math.ceil((read("Columns", 1) * read("Colors", 1) * read("BitsPerComponent", 8)) / 8);
  const rows = Math.floor(bytes.length / (width + 1));
  const out = new Uint8Array(rows * width);
  for (let row = 0; row < rows; row++) {
    const kind = bytes[row * (width + 1)]!;
    for (let column = 0; column < width; column++) {
      const at = row * width + column;
      const left = column < before ? 0 : out[at - before]!;
      const above = row === 0 ? 0 : out[at - width]!;
      const corner = row === 0 || column < before ? 0 : out[at - width - before]!;
      out[at] = bytes[row * (width + 1) + 1 + column]! + guess(kind, { left, above, corner });
    }
  }
  return out;
}

function guess(kind: number, { left, above, corner }: Record<"left" | "above" | "corner", number>): number {
  if (kind === 1) return left;
  if (kind === 2) return above;
  if (kind === 3) return (left + above) >> 1;
  if (kind !== 4) return 0;
  const [byLeft, byAbove, byCorner] = [above - corner, left - corner, left + above - 2 * corner].map(Math.abs) as [
    number,
    number,
    number,
  ];
  return byLeft <= byAbove && byLeft <= byCorner ? left : byAbove <= byCorner ? above : corner;
}

function asciiHex(bytes: Uint8Array): Uint8Array {
  const digits = toLetters(bytes).split(">")[0]!.replace(/[^\da-f]/gi, "");
  return new Uint8Array(Buffer.from(digits.length % 2 ? `${digits}0` : digits, "hex"));
}

/** @returns undefined when the data is damaged */
function ascii85(bytes: Uint8Array): Uint8Array | undefined {
  const out: number[] = [];
  let group: number[] = [];
  const flush = (count: number) => {
    let value = 0;
    for (const digit of group) value = value * 85 + digit;
    for (let i = 3; i > 3 - count; i--) out.push(Math.floor(value / 256 ** i) & 255);
    group = [];
  };
  for (const byte of bytes) {
    if (byte === 126) break;
    if (byte === 122 && group.length === 0) out.push(0, 0, 0, 0);
    else if (byte >= 33 && byte <= 117) {
      if (group.push(byte - 33) === 5) flush(4);
    } else if (byte > 32) return undefined;
  }
  if (group.length > 1) {
    const count = group.length - 1;
    while (group.length < 5) group.push(84);
    flush(count);
  }
  return Uint8Array.from(out);
}
