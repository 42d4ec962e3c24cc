/** Makes user-supplied text safe for a mail header or a single line. */

// Line breaks would end a header or a line; bidi controls would affect the text after the name.
const CONTROLS = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/** A name as a single line of limited length. */
export function oneLine(name: string, longest = 120): string {
  const characters = [...name.replace(CONTROLS, " ").replace(/\s+/g, " ").trim()];
  return characters.length <= longest ? characters.join("") : `${characters.slice(0, longest - 1).join("")}…`;
}
