/**
 * Text of a file that was turned into a string by somebody else, on its way back to what was in the file. A JSON string carries no encoding, so
 * all that can be seen is what reading with the wrong one left behind: UTF-8 read as Windows-1252 is undone, UTF-16 read byte by byte loses its
 * zeros, and letters that are gone (U+FFFD) stay gone and are said to be.
 */

export interface RepairedText {
  text: string;
  /** How it must have been written and read; absent when nothing was wrong. */
  encoding?: "utf-8 read as windows-1252" | "utf-16 read byte by byte" | "damaged";
}

/** Windows-1252 of 0x80 to 0x9f (Encoding §9.1, index windows-1252); everything else is the byte itself. */
const HIGH_CONTROLS = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

/** What two bytes of UTF-8 look like when each is taken for a letter: Ã¤, â‚¬, ï»¿. */
const MOJIBAKE = /[ÂÃÄÅâãï][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹Œ‘’“”•–—˜™š›œžŸŽ]/;

export function repairText(received: string): RepairedText {
  // A byte-order mark, whole or as the letters or losses it was read as.
  const unmarked = received.replace(/^(\ufeff|ï»¿|ÿþ|þÿ|\ufffd\ufffd(?=.?\0))/, "");
  const zeros = unmarked.split("\0").length - 1;
  if (zeros > 0 && zeros * 3 >= unmarked.length) {
    return { text: unmarked.replaceAll("\0", ""), encoding: "utf-16 read byte by byte" };
  }
  if (MOJIBAKE.test(unmarked)) {
    const text = decodeAgain(unmarked);
    if (text !== undefined) return { text, encoding: "utf-8 read as windows-1252" };
  }
  // Windows-1252 read as Latin-1 leaves control characters where € and quotation marks were.
  const text = unmarked.replace(/[\u0080-\u009f]/g, (control) => HIGH_CONTROLS[control.charCodeAt(0) - 0x80]!);
  return text.includes("\ufffd") ? { text, encoding: "damaged" } : { text };
}

/** The text when its letters are taken for bytes of UTF-8; undefined when they are none. */
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
