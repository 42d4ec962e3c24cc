/** Cleans the text inside tool arguments (clean_text.ts). */
import { cleanText } from "../clean_text.ts";

/**
 * No contract nests deeper. Deeper values become null, which every contract rejects, because recursion could exhaust
 * the stack.
 */
const MAX_DEPTH = 10;

/** A copy of JSON data with every string cleaned. Keys remain unchanged, because unknown ones are rejected anyway. */
export function cleanStrings(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return cleanText(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth === MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((item) => cleanStrings(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cleanStrings(item, depth + 1)]));
}
