/**
 * Repairs file text that a client decoded with the wrong encoding and sent as a JSON string. It reverts UTF-8 read as
 * Windows-1252, removes the NULs of UTF-16 read byte by byte, and reports lost letters (U+FFFD), which it can't
 * restore.
 */

export interface RepairedText {
  text: string;
  /** The detected wrong decoding, or the guessed encoding; absent if the text was intact. */
  encoding?: string;
}

/** Windows-1252 for 0x80 to 0x9f (Encoding §9.1, index windows-1252); all other bytes map to themselves. */
const HIGH_CONTROLS = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

/** Two-byte UTF-8 read as two letters: Ã¤, â‚¬, ï»¿. */
const MOJIBAKE = /[ÂÃÄÅâãï][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹Œ‘’“”•–—˜™š›œžŸŽ]/;

export function repairText(received: string): RepairedText {
  // A byte-order mark, intact or decoded into letters or replacement characters.
  const unmarked = received.replace(/^(\ufeff|ï»¿|ÿþ|þÿ|\ufffd\ufffd(?=.?\0))/, "");
  const zeros = unmarked.split("\0").length - 1;
  if (zeros > 0 && zeros * 3 >= unmarked.length) {
    return { text: unmarked.replaceAll("\0", ""), encoding: "utf-16 read byte by byte" };
  }
  if (MOJIBAKE.test(unmarked)) {
    const text = decodeAgain(unmarked);
    if (text !== undefined) return { text, encoding: "utf-8 read as windows-1252" };
  }
  // Windows-1252 read as Latin-1 leaves control characters in place of € and quotation marks.
  const text = unmarked.replace(/[\u0080-\u009f]/g, (control) => HIGH_CONTROLS[control.charCodeAt(0) - 0x80]!);
  return text.includes("\ufffd") ? { text, encoding: "damaged" } : { text };
}

/** The text whose letters are read as UTF-8 bytes; undefined when they are not valid UTF-8. */
function decodeAgain(text: string): string | undefined {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const high = code > 0xff ? HIGH_CONTROLS.indexOf(text[i]!) : -1;
    if (code > 0xff && high < 0) return undefined;
    bytes[i] = high < 0 ? code : 0x80 + high;
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
