/** Two calls of a tool that differ in one field. */

// deno-lint-ignore no-explicit-any
type Json = any;

export interface Case {
  /** The field's two values; undefined leaves it out. */
  values: readonly [unknown, unknown];
  /** What both calls say besides. */
  with?: Json;
  /** Calls before, each of them in both. */
  before?: readonly (readonly [tool: string, args: Json])[];
}

export type Cases = Readonly<Record<string, Readonly<Record<string, Case>>>>;

/** Two values, and what both calls say besides. */
export const between = (a: unknown, b: unknown, more: Json = {}): Case => ({ values: [a, b], with: more });
