/**
 * What a person lets an app do. There is one scope for both, so the choice is kept on the grant, and nothing that a
 * client sends decides it.
 */
import * as z from "zod/mini";

export const Access = z.enum(["read", "write"]);
export type Access = z.infer<typeof Access>;

/** The scope that we store for a request that asks to read, in any spelling. */
const READING = "read";

/**
 * What a request asks for, to preselect it: reading, if its scopes name reading and nothing names writing. Clients that
 * ask for nothing, or only for what we advertise, ask for both.
 */
export function askedAccess(scope: string | undefined): Access {
  const words = (scope ?? "").toLowerCase().split(/[^a-z]+/);
  const asksToWrite = words.some((word) => ["rw", "write", "readwrite", "full", "admin", "manage"].includes(word));
  return !asksToWrite && words.some((word) => ["r", "ro", READING, "readonly"].includes(word)) ? "read" : "write";
}

/** The scope that repeats {@link askedAccess} in a request of ours. */
export const scopeOf = (access: Access): string | undefined => access === "read" ? READING : undefined;
