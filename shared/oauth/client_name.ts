/**
 * Cleans a client's self-given name, so that our own text can contain it. The name remains the client's claim: escape
 * it, isolate it, never trust it.
 */
import { MAX_NAME_LENGTH, MAX_SHOWN_NAME_LENGTH } from "./limits.ts";

/**
 * Control, format (including bidi controls), private-use, unassigned and surrogate characters, and letters and marks
 * without a visible form (Hangul filler, blank braille).
 */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]+/gu;
/** Marks stacked on one letter overlap the lines above and below. */
const PILED_MARKS = /(\p{M}{2})\p{M}+/gu;

/** The name to store, or undefined when nothing legible is left. */
export function cleanClientName(name: string): string | undefined {
  // Cut stacked marks first, because normalizing sorts them, which is slow for many.
  const legible = name.replace(/\s+/gu, " ").replace(INVISIBLE, "").replace(PILED_MARKS, "$1").normalize("NFC");
  return shorten(legible.trim(), MAX_NAME_LENGTH) || undefined;
}

/** The name as shown on a page. */
export const shownClientName = (name: string): string => shorten(name, MAX_SHOWN_NAME_LENGTH);

function shorten(text: string, length: number): string {
  const characters = [...text];
  return characters.length <= length ? text : characters.slice(0, length - 1).join("").trimEnd() + "…";
}
