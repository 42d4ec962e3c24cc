/** Decodes a file's bytes into text, by its declared encoding or otherwise by the bytes. */
import { guessEncoding } from "./guess_encoding.ts";
import { type RepairedText, repairText } from "./repair_text.ts";

const MARKS: [number[], string][] = [[[0xef, 0xbb, 0xbf], "utf-8"], [[0xff, 0xfe], "utf-16le"], [
  [0xfe, 0xff],
  "utf-16be",
]];
/** The search for zeros covers only the beginning. */
const SAMPLE = 1024;

/** UTF-8 and UTF-16 with or without a byte-order mark; otherwise the letters decide the encoding. Reverses mojibake. */
export function decodeFile(bytes: Uint8Array): RepairedText {
  const marked = MARKS.find(([mark]) => mark.every((byte, i) => bytes[i] === byte))?.[1];
  if (marked) return repairText(new TextDecoder(marked).decode(bytes));
  const wide = findUtf16(bytes.subarray(0, SAMPLE));
  if (wide) return repairText(new TextDecoder(wide).decode(bytes));
  try {
    return repairText(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    const encoding = saidEncoding(bytes) ?? guessEncoding(bytes);
    return { text: new TextDecoder(encoding).decode(bytes), encoding };
  }
}

/**
 * The declared encoding of an XML document, if its bytes allow it; undefined when it claims Unicode but its bytes do
 * not.
 */
function saidEncoding(bytes: Uint8Array): string | undefined {
  const start = String.fromCharCode(...bytes.subarray(0, 200));
  const said = /^\s*<\?xml[^>]*\sencoding=["']([\w-]{1,40})["']/i.exec(start)?.[1];
  try {
    const { encoding } = new TextDecoder(said ?? "utf-8", { fatal: true });
    return encoding.startsWith("utf") ? undefined : encoding;
  } catch {
    return undefined;
  }
}

/** Latin letters in UTF-16 have a zero in every other byte. */
function findUtf16(sample: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  const zeros = [0, 0];
  sample.forEach((byte, i) => byte === 0 && zeros[i % 2]!++);
  const [even, odd] = zeros as [number, number];
  // Zeros after single-byte letters pad a block.
  if ((even + odd) * 3 < sample.length || Math.min(even, odd) * 4 > Math.max(even, odd)) return undefined;
  return odd > even ? "utf-16le" : "utf-16be";
}
