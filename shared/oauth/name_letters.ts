/**
 * The letters of a name: whether they are what they look like. After UTS 39, which has no data set on npm that is kept up to date; so what
 * is not plainly one person's writing counts as odd, and the table of look-alikes need only know what passes for plain.
 */

/** Letters and digits drawn alike, by the Latin letter that stands for them here: those that whole names of makers can be written with. */
const ALIKE: Readonly<Record<string, string>> = {
  ...spread("a", "а@αɑ4ǝə"),
  ...spread("b", "ьв8ßɓ"),
  ...spread("c", "сϲᴄɔ"),
  ...spread("d", "ԁɗđð"),
  ...spread("e", "еёεҽ3ɛ"),
  ...spread("g", "ɡ9"),
  ...spread("h", "һհнħ"),
  ...spread("j", "јϳ"),
  ...spread("k", "кκƙ"),
  ...spread("l", "1|!iıіӏιǀł丨ㅣ"),
  ...spread("m", "м"),
  ...spread("n", "пηռŋɲ"),
  ...spread("o", "0оοσօø〇ㅇ"),
  ...spread("p", "рρþ"),
  ...spread("r", "г"),
  ...spread("s", "5$ѕ"),
  ...spread("t", "т7τŧ"),
  ...spread("u", "υսц"),
  ...spread("v", "ѵν"),
  ...spread("w", "ԝωѡ"),
  ...spread("x", "хχ"),
  ...spread("y", "уγүƴ"),
};

// Latin letters of written languages once accents are off; the rest are signs of phonetics and of older or invented alphabets.
const PLAIN_LATIN = /^[a-zæœøðþßłđħŋŧıəǝɛɔɓɗƙɲƴ]$/;
/** UTS 31 table 5: scripts in everyday use. */
const SCRIPTS = [
  "Arabic",
  "Armenian",
  "Bengali",
  "Bopomofo",
  "Cyrillic",
  "Devanagari",
  "Ethiopic",
  "Georgian",
  "Greek",
  "Gujarati",
  "Gurmukhi",
  "Han",
  "Hangul",
  "Hebrew",
  "Hiragana",
  "Kannada",
  "Katakana",
  "Khmer",
  "Lao",
  "Latin",
  "Malayalam",
  "Myanmar",
  "Oriya",
  "Sinhala",
  "Tamil",
  "Telugu",
  "Thaana",
  "Thai",
  "Tibetan",
] as const;
const OF_SCRIPT = SCRIPTS.map((script) => ({ script, pattern: new RegExp(`\\p{Script=${script}}`, "u") }));
/** Scripts that are written within one word; those of UTS 39 §5.2, "highly restrictive". */
const TOGETHER: readonly (readonly string[])[] = [
  ["Latin", "Han", "Hiragana", "Katakana"],
  ["Latin", "Han", "Bopomofo"],
  ["Latin", "Han", "Hangul"],
];
const SHARED = /[\p{Script=Common}\p{Script=Inherited}]/u;
// Letters in circles, squares and brackets, and halves of flags; two of these together are one flag.
const BOXED = /[\u2460-\u24ff\u{1f100}-\u{1f1ff}]/u;
const FLAG = /\p{RI}{2}/gu;

/** A name in small letters without accents and compatibility forms (`Ｃ` is `c`). */
export const plainName = (name: string): string => withoutAccents(name.normalize("NFKD"));

/** The letters alone, those that are drawn alike made one. */
export function shapeOf(text: string): string {
  return [...plainName(text)].map((character) => ALIKE[character] ?? character).join("")
    .replace(/[^\p{L}\p{N}]+/gu, "").replaceAll("rn", "m").replaceAll("vv", "w");
}

/** Whether a name has the word in plain letters, however they are spaced. */
export const saysPlainly = (name: string, word: string): boolean =>
  name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "").includes(word);

/** Whether a name has letters that nobody needs for a name of their own, or a word of several scripts. */
export function hasOddLetters(name: string): boolean {
  // Most names; compiling the patterns of all scripts takes tens of milliseconds the first time.
  if (/^[\x20-\x7e]*$/.test(name)) return false;
  const text = name.normalize("NFC").replace(FLAG, "");
  if (BOXED.test(text)) return true;
  return (text.match(/[\p{L}\p{M}\p{Nl}]+/gu) ?? []).some((word) => {
    if (/[\p{L}\p{Nl}]/u.test(word) && word.normalize("NFKC") !== word) return true;
    const letters = [...word].filter((letter) => !SHARED.test(letter));
    const scripts = new Set(letters.map((letter) => OF_SCRIPT.find(({ pattern }) => pattern.test(letter))?.script));
    if (scripts.has(undefined)) return true;
    if (scripts.has("Latin") && !letters.every(isPlainLetter)) return true;
    return scripts.size > 1 && !TOGETHER.some((together) => [...scripts].every((script) => together.includes(script!)));
  });
}

const LATIN = /\p{Script=Latin}/u;
const isPlainLetter = (letter: string) =>
  !LATIN.test(letter) || [...withoutAccents(letter.normalize("NFD"))].every((base) => PLAIN_LATIN.test(base));

const withoutAccents = (decomposed: string) => decomposed.replace(/\p{M}/gu, "").toLowerCase();

function spread(letter: string, alike: string): Record<string, string> {
  return Object.fromEntries([...alike].map((character) => [character, letter]));
}
