/** Makes user-chosen names safe for a mail header, a line of text or a sentence. */

// Line breaks would end a header or a line; bidi controls affect the text after the name.
const CONTROLS = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/** A name as a single line of limited length. */
export function oneLine(name: string, longest = 120): string {
  const characters = [...name.replace(CONTROLS, " ").replace(/\s+/g, " ").trim()];
  return characters.length <= longest ? characters.join("") : `${characters.slice(0, longest - 1).join("")}…`;
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** A name inside a sentence. Right-to-left names are isolated from the surrounding text (UAX #9). */
export function inSentence(name: string, longest: number): string {
  const short = oneLine(name, longest);
  return RIGHT_TO_LEFT.test(short) ? `\u2068${short}\u2069` : short;
}
