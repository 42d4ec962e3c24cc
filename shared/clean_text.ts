/**
 * Text that people typed, on its way in: characters that are invisible but change what others see, or that Postgres
 * cannot store, are taken out. What remains is kept to the letter.
 */

// Control characters but tab and line breaks, everything that steers writing direction, line and paragraph separators, byte-order mark.
const INVISIBLE = /(?![\t\n\r])\p{Cc}|[\p{Bidi_Control}\u2028\u2029\ufeff]/gu;

/** Text of several lines. */
export const cleanText = (text: string): string => text.replace(INVISIBLE, "").toWellFormed();

/** Text for one line, a name or what a field of a form holds: what would begin another is a space. */
export const cleanLine = (text: string): string =>
  cleanText(text.replace(/[\t\n\v\f\r\x85\u2028\u2029]+/g, " ")).trim();
