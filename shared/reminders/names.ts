/** Names that people chose, made safe to stand in a mail's header, in a line of text or in a sentence. */

// Line breaks end a header or a line of text; marks that turn the direction of writing reach beyond the name they stand in.
const CONTROLS = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/** A name as one line of at most so many characters. */
export function oneLine(name: string, longest = 120): string {
  const characters = [...name.replace(CONTROLS, " ").replace(/\s+/g, " ").trim()];
  return characters.length <= longest ? characters.join("") : `${characters.slice(0, longest - 1).join("")}…`;
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** A name inside a sentence. One written from right to left is isolated, so that it leaves the words around it alone (UAX #9). */
export function inSentence(name: string, longest: number): string {
  const short = oneLine(name, longest);
  return RIGHT_TO_LEFT.test(short) ? `\u2068${short}\u2069` : short;
}
