/**
 * Tells the encodings of one or two bytes a letter apart, which nothing in a file says: the one whose text names columns
 * and has letters where words have them. Our own, because detectors judge by the letters of long texts, and a statement
 * has few; its header is the best evidence.
 */
import { plainHeader, rolesOf } from "./header_words.ts";

/** The letters that each holds besides those of ASCII, as far as its languages use them; the commonest first. */
const LETTERS: [encoding: string, letters: RegExp][] = [
  ["windows-1252", /[äöüßéèêëàâçñáíóúîïôûùãõåøæœ€£§°´–’“”„»«¿¡º]/iu],
  ["windows-1250", /[ąćęłńóśźżáčďéěíňřšťúůýžäöüőűôľĺŕăâîşţđ€§°–’“”„]/iu],
  ["windows-1251", /[\p{Script=Cyrillic}№€«»–„“”]/u],
  ["windows-1254", /[ğışçöüâîûİ€–’“”]/iu],
  ["windows-1253", /[\p{Script=Greek}€«»–’]/u],
  ["iso-8859-2", /[ąćęłńóśźżáčďéěíňřšťúůýžäöüőűôľĺŕăâîşţđ]/iu],
  ["iso-8859-5", /[\p{Script=Cyrillic}№]/u],
  ["shift_jis", /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}　-〜！-｠]/u],
  ["euc-kr", /[\p{Script=Hangul}]/u],
  ["gb18030", /[\p{Script=Han}，。：（）￥]/u],
  ["big5", /[\p{Script=Han}，。：（）]/u],
];
/** The beginning has the header. */
const SAMPLE = 32_768;
const HEADER_BONUS = 8;

/** @param bytes of a text that is no Unicode. */
export function guessEncoding(bytes: Uint8Array): string {
  // Cut at a line's end, so that no letter is cut.
  const end = bytes.length <= SAMPLE ? bytes.length : bytes.lastIndexOf(10, SAMPLE) + 1 || SAMPLE;
  const sample = bytes.subarray(0, end);
  let best = { encoding: "windows-1252", score: -Infinity };
  for (const [encoding, letters] of LETTERS) {
    const score = scoreOf(sample, encoding, letters);
    if (score > best.score) best = { encoding, score };
  }
  return best.encoding;
}

/** Per byte, so that two bytes a letter are not half as good. */
function scoreOf(sample: Uint8Array, encoding: string, letters: RegExp): number {
  let text: string;
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(sample);
  } catch {
    return -Infinity;
  }
  let [fitting, all] = [0, 0];
  for (const letter of text) {
    if (letter < "\u0080") continue;
    all++;
    if (letters.test(letter)) fitting++;
    else fitting -= 2;
  }
  if (all === 0) return 0;
  let named = 0;
  for (const line of text.split("\n", 200)) {
    for (const cell of line.split(/[;,\t|]/, 60)) {
      if (/[^\0-\x7f]/.test(cell) && isHeader(cell.slice(0, 60))) named++;
    }
  }
  return fitting / all * 10 + named * HEADER_BONUS;
}

const isHeader = (cell: string): boolean => {
  const plain = plainHeader(cell);
  return plain !== "" && rolesOf(plain).length > 0;
};
