/** What a client calls itself, made fit to be shown between our own words. It stays the client's claim: escape it, isolate it, never trust it. */
import { MAX_NAME_LENGTH, MAX_SHOWN_NAME_LENGTH } from "./limits.ts";

/**
 * Control, format (among them the marks that turn the reading direction), private, unassigned and surrogate characters, and letters and marks
 * that are drawn as nothing (a Hangul filler, blank braille).
 */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]+/gu;
/** Marks piled on one letter reach into the lines above and below. */
const PILED_MARKS = /(\p{M}{2})\p{M}+/gu;

/** The name to store, or undefined when nothing legible is left of it. */
export function cleanClientName(name: string): string | undefined {
  // Normalizing sorts the marks of a pile, which takes long for a high one: it comes after they are cut.
  const legible = name.replace(/\s+/gu, " ").replace(INVISIBLE, "").replace(PILED_MARKS, "$1").normalize("NFC");
  return shorten(legible.trim(), MAX_NAME_LENGTH) || undefined;
}

/** The name as a page shows it. */
export const shownClientName = (name: string): string => shorten(name, MAX_SHOWN_NAME_LENGTH);

function shorten(text: string, length: number): string {
  const characters = [...text];
  return characters.length <= length ? text : characters.slice(0, length - 1).join("").trimEnd() + "…";
}
