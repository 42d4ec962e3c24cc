/**
 * Detects deceptive letters in names, after UTS 39. npm has no maintained data set for it, so any unusual mix of
 * scripts counts as odd, and the table of look-alikes covers only letters that would pass as ordinary.
 */

/** Look-alike letters and digits, mapped to a common Latin letter: those that can spell whole names of makers. */
const CONFUSABLES: Readonly<Record<string, string>> = {
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

// Latin letters of living languages after accents are removed; the rest are phonetic, historic or invented.
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
const SCRIPT_PATTERNS = SCRIPTS.map((script) => ({ script, pattern: new RegExp(`\\p{Script=${script}}`, "u") }));
/** Scripts that may be mixed within one word (UTS 39 §5.2, "highly restrictive"). */
const COMBINABLE_SCRIPTS: readonly (readonly string[])[] = [
  ["Latin", "Han", "Hiragana", "Katakana"],
  ["Latin", "Han", "Bopomofo"],
  ["Latin", "Han", "Hangul"],
];
const SHARED = /[\p{Script=Common}\p{Script=Inherited}]/u;
// Enclosed letters, and halves of flags; two halves together are one flag.
const BOXED = /[\u2460-\u24ff\u{1f100}-\u{1f1ff}]/u;
const FLAG = /\p{RI}{2}/gu;

/** A name in lower case without accents and compatibility forms (`Ｃ` is `c`). */
export const plainName = (name: string): string => withoutAccents(name.normalize("NFKD"));

/** The letters alone, with look-alikes unified. */
export function shapeOf(text: string): string {
  return [...plainName(text)].map((character) => CONFUSABLES[character] ?? character).join("")
    .replace(/[^\p{L}\p{N}]+/gu, "").replaceAll("rn", "m").replaceAll("vv", "w");
}

/** Whether a name contains the word in plain letters, however they are spaced. */
export const saysPlainly = (name: string, word: string): boolean =>
  name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "").includes(word);

/** Whether a name has letters that no honest name needs, or a word of mixed scripts. */
export function hasOddLetters(name: string): boolean {
  // Handles the common case first, because compiling the patterns of all scripts takes tens of milliseconds the first
  // time.
  if (/^[\x20-\x7e]*$/.test(name)) return false;
  const text = name.normalize("NFC").replace(FLAG, "");
  if (BOXED.test(text)) return true;
  return (text.match(/[\p{L}\p{M}\p{Nl}]+/gu) ?? []).some((word) => {
    if (/[\p{L}\p{Nl}]/u.test(word) && word.normalize("NFKC") !== word) return true;
    const letters = [...word].filter((letter) => !SHARED.test(letter));
    const scripts = new Set(
      letters.map((letter) => SCRIPT_PATTERNS.find(({ pattern }) => pattern.test(letter))?.script),
    );
    if (scripts.has(undefined)) return true;
    if (scripts.has("Latin") && !letters.every(isPlainLetter)) return true;
    return scripts.size > 1 &&
      !COMBINABLE_SCRIPTS.some((together) => [...scripts].every((script) => together.includes(script!)));
  });
}

const LATIN = /\p{Script=Latin}/u;
const isPlainLetter = (letter: string) =>
  !LATIN.test(letter) || [...withoutAccents(letter.normalize("NFD"))].every((base) => PLAIN_LATIN.test(base));

const withoutAccents = (decomposed: string) => decomposed.replace(/\p{M}/gu, "").toLowerCase();

function spread(letter: string, alike: string): Record<string, string> {
  return Object.fromEntries([...alike].map((character) => [character, letter]));
}
