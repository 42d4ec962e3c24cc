/**
 * A person's permission for an app. One scope covers both levels, so the grant stores the person's choice, and a
 * client can't change it.
 */
import * as z from "zod/mini";

export const Access = z.enum(["read", "write"]);
export type Access = z.infer<typeof Access>;

/** The scope that is stored for a read-only request, in any spelling. */
const READING = "read";

/**
 * The access that a request asks for, which the page preselects: read-only if its scopes name reading and not writing.
 * Clients without scopes, or with only our advertised ones, ask for both.
 */
export function askedAccess(scope: string | undefined): Access {
  const words = (scope ?? "").toLowerCase().split(/[^a-z]+/);
  const asksToWrite = words.some((word) => ["rw", "write", "readwrite", "full", "admin", "manage"].includes(word));
  return !asksToWrite && words.some((word) => ["r", "ro", READING, "readonly"].includes(word)) ? "read" : "write";
}

/** The scope that repeats {@link askedAccess} in a request of ours. */
export const scopeOf = (access: Access): string | undefined => access === "read" ? READING : undefined;
