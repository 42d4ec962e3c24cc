/**
 * Text that people typed, on its way in: characters that are invisible but change what others see, or that Postgres
 * cannot store, are taken out. What remains is kept to the letter.
 */

// Control characters but tab and line breaks, everything that steers writing direction, line and paragraph separators, byte-order mark.
const INVISIBLE = /(?![\t\n\r])\p{Cc}|[\p{Bidi_Control}\u2028\u2029\ufeff]/gu;

/** No contract nests deeper. What does is replaced by null, which no contract accepts, because walking it could exhaust the stack. */
const MAX_DEPTH = 10;

/** A copy of JSON data with every string cleaned; keys are left, since unknown ones are refused anyway. */
export function cleanStrings(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return value.replace(INVISIBLE, "").toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (depth === MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((item) => cleanStrings(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cleanStrings(item, depth + 1)]));
}
