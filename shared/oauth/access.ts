/**
 * A person's permission for an app. There is one scope for both levels, so the grant stores the choice, and nothing
 * that a client sends decides it.
 */
import * as z from "zod/mini";

export const Access = z.enum(["read", "write"]);
export type Access = z.infer<typeof Access>;

/** The scope that we store for a request to read only, in any spelling. */
const READING = "read";

/**
 * The access that a request asks for, to preselect it: read-only, if its scopes name reading and nothing names writing.
 * Clients that ask for nothing, or only for our advertised scopes, ask for both.
 */
export function askedAccess(scope: string | undefined): Access {
  const words = (scope ?? "").toLowerCase().split(/[^a-z]+/);
  const asksToWrite = words.some((word) => ["rw", "write", "readwrite", "full", "admin", "manage"].includes(word));
  return !asksToWrite && words.some((word) => ["r", "ro", READING, "readonly"].includes(word)) ? "read" : "write";
}

/** The scope that repeats {@link askedAccess} in a request of ours. */
export const scopeOf = (access: Access): string | undefined => access === "read" ? READING : undefined;
