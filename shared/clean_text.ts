/**
 * Cleans text that people typed: removes characters that are invisible but change what others see, or that Postgres
 * cannot store. Everything else stays.
 */

// Control characters except tab and line breaks, bidi controls, line and paragraph separators, byte-order mark.
const INVISIBLE = /(?![\t\n\r])\p{Cc}|[\p{Bidi_Control}\u2028\u2029\ufeff]/gu;

// Invisible letters that models still read: tag characters (except in regional flags) and repeated variation selectors.
const HIDDEN_LETTERS = /(\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{1,6}\u{e007f})|[\u{e0000}-\u{e007f}]+/gu;
const PILED_SELECTORS = /([\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]+/gu;

/** Most texts have no other characters, and a test is several times faster than a replacement. */
const PLAIN = /^[\t\n\r -~]*$/;

/** Text of several lines. */
export const cleanText = (text: string): string =>
  PLAIN.test(text)
    ? text
    : text.replace(INVISIBLE, "").replace(HIDDEN_LETTERS, "$1").replace(PILED_SELECTORS, "$1").toWellFormed();

/** Single-line text, such as a name or a form field: line breaks become spaces. */
export const cleanLine = (text: string): string =>
  cleanText(text.replace(/[\t\n\v\f\r\x85\u2028\u2029]+/g, " ")).trim();
