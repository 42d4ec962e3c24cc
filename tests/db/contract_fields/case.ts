/** Two calls of a tool that differ in one field. */

// deno-lint-ignore no-explicit-any
type Json = any;

export interface Case {
  /** The field's two values; undefined omits it. */
  values: readonly [unknown, unknown];
  /** Arguments that both calls share. */
  with?: Json;
  /** Earlier calls, which both cases make. */
  before?: readonly (readonly [tool: string, args: Json])[];
}

export type Cases = Readonly<Record<string, Readonly<Record<string, Case>>>>;

/** Two values, and the arguments that both calls share. */
export const between = (a: unknown, b: unknown, more: Json = {}): Case => ({ values: [a, b], with: more });
