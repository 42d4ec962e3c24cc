/**
 * Guesses among encodings with one or two bytes per letter, which a file does not declare. It chooses the encoding
 * whose text contains column names and plausible words. Hand-written, because detectors rely on letter frequencies in
 * long texts, while a statement has little text and its header is the best evidence. Of the 17 files
 * tests/fixtures/unknown_statements/encoding-*, chardet 2.2 takes Cyrillic names for Latin, Serbian for Hebrew, and œ
 * for ¼; this module reads all of them.
 */
import { plainHeader, rolesOf } from "./header_words.ts";

const CYRILLIC = "абвгдежзийклмнопрстуфхцчшщъыьэюя";
/** The non-ASCII letters in the languages of each encoding; COMMON has the letters of all. */
const ALPHABETS: Record<string, readonly (string | RegExp)[]> = {
  "windows-1252": [
    ...["äöüß", "àâæçèéêëîïôœùûü", "áéíñóúü¿¡ºª", "àèéìíòóùú", "áâãàçéêíóôõúüºª", "åäöé", "æøåéò", "áðéíóúýþæö"],
    ...["éëïóöüèê", "àçèéíïòóúü·"],
  ],
  "windows-1250": ["ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "ăâîşţ", "čćđšž", "čšžćđ"],
  "windows-1251": ["", "ё№", "ґєії", "ђјљњћџ", "ѓѕјљњќџ", "іў"].map((more) => CYRILLIC + more),
  "windows-1254": ["çğıöşüâîûİ"],
  "windows-1253": [/[\p{Script=Greek}]/u],
  "windows-1257": ["ąčęėįšųūž", "āčēģīķļņšūž", "äöõüšž"],
  "iso-8859-2": ["ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "ăâîşţ", "čćđšž"],
  "iso-8859-15": ["äöüß", "àâæçèéêëîïôœùûü", "áéíñóúü¿¡ºª", "äåöšž"],
  "iso-8859-5": ["ё№", "ђјљњћџ", "ѓѕјљњќџ"].map((more) => CYRILLIC + more),
  "shift_jis": [/[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}　-〜！-｠ー]/u],
  "euc-kr": [/[가-힣]/u],
  "gb18030": [/[\p{Script=Han}，。：（）￥]/u],
  "euc-jp": [/[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}　-〜！-｠ー]/u],
  "big5": [/[\p{Script=Han}，。：（）]/u],
  "koi8-r": [CYRILLIC],
  "ibm866": [CYRILLIC],
  "windows-1255": [/[\p{Script=Hebrew}]/u],
  "windows-1256": [/[\p{Script=Arabic}]/u],
  "windows-874": [/[\p{Script=Thai}]/u],
  "macintosh": ["äöüß", "àâæçèéêëîïôœùûü", "áéíñóúü¿¡ºª", "àèéìíòóùú", "áâãàçéêíóôõúüºª", "åäöé", "æøåéò"],
};
const COMMON = "€£§°´–—’‘“”„«»…·\u00a0";
const LETTERS = Object.entries(ALPHABETS).map(([encoding, alphabets]) =>
  [encoding, alphabets.map((letters) => typeof letters === "string" ? setOf(letters) : letters)] as const
);

function setOf(letters: string): { test(letter: string): boolean } {
  const set = new Set([...letters, ...letters.toUpperCase(), ...COMMON]);
  return { test: (letter) => set.has(letter) };
}

/** A letter of another script between Latin letters proves a wrong encoding. */
const ISOLATED = /[a-z][^\0-\x7f]|[^\0-\x7f][a-z]/;
const OTHER_SCRIPT = /[^\p{Script=Latin}\p{Script=Common}]/u;

/** The header is at the beginning. */
const SAMPLE = 32_768;
const HEADER_BONUS = 8;

/** @param bytes of a text in no form of Unicode */
export function guessEncoding(bytes: Uint8Array): string {
  // Cut at the end of a line, so that no character is split.
  const end = bytes.length <= SAMPLE ? bytes.length : bytes.lastIndexOf(10, SAMPLE) + 1 || SAMPLE;
  const sample = bytes.subarray(0, end);
  let best = { encoding: "windows-1252", score: -Infinity };
  for (const [encoding, alphabets] of LETTERS) {
    const score = scoreOf(sample, encoding, alphabets);
    if (score > best.score) best = { encoding, score };
  }
  return best.encoding;
}

/**
 * Judges by the share of letters that occur in one of the encoding's languages, and by the column names in the text.
 */
function scoreOf(
  sample: Uint8Array,
  encoding: string,
  alphabets: readonly { test(letter: string): boolean }[],
): number {
  let text: string;
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(sample);
  } catch {
    return -Infinity;
  }
  let all = 0;
  const fitting = alphabets.map(() => 0);
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!;
    if (letter < "\u0080") continue;
    all++;
    const isMixed = OTHER_SCRIPT.test(letter) && ISOLATED.test(text.slice(Math.max(at - 1, 0), at + 2));
    alphabets.forEach((one, i) => fitting[i]! += !isMixed && one.test(letter) ? 1 : -2);
  }
  if (all === 0) return 0;
  let named = 0;
  for (const line of text.split("\n", 200)) {
    for (const cell of line.split(/[;,\t|]/, 60)) {
      if (/[^\0-\x7f]/.test(cell) && isHeader(cell.slice(0, 60))) named++;
    }
  }
  return Math.max(...fitting) / all * 10 + named * HEADER_BONUS;
}

const isHeader = (cell: string): boolean => {
  const plain = plainHeader(cell);
  return plain !== "" && rolesOf(plain).length > 0;
};
