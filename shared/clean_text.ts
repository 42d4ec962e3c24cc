/**
 * Text that people typed, on its way in: characters that are invisible but change what others see, or that Postgres
 * cannot store, are taken out. What remains is kept to the letter.
 */

// Control characters but tab and line breaks, everything that steers writing direction, line and paragraph separators, byte-order mark.
const INVISIBLE = /(?![\t\n\r])\p{Cc}|[\p{Bidi_Control}\u2028\u2029\ufeff]/gu;

// Letters that nobody sees and models read: tags, but for those that make a flag of a region, and variation selectors after the first.
const HIDDEN_LETTERS = /(\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{1,6}\u{e007f})|[\u{e0000}-\u{e007f}]+/gu;
const PILED_SELECTORS = /([\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]+/gu;

/** Text of several lines. */
export const cleanText = (text: string): string =>
  text.replace(INVISIBLE, "").replace(HIDDEN_LETTERS, "$1").replace(PILED_SELECTORS, "$1").toWellFormed();

/** Text for one line, a name or what a field of a form holds: what would begin another is a space. */
export const cleanLine = (text: string): string =>
  cleanText(text.replace(/[\t\n\v\f\r\x85\u2028\u2029]+/g, " ")).trim();
