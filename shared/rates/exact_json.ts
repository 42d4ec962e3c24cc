/** Reads JSON whose numbers are rates: none becomes a float. */
import { MalformedRates } from "./rate_set.ts";

/** Keeps a number's digits as written (ECMA-262, JSON.parse source text access). */
function digits(_key: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === "number" ? context?.source ?? String(value) : value;
}

/** Numbers come as strings. @throws {MalformedRates} */
// deno-lint-ignore no-explicit-any -- Its caller checks what it is.
export function parseExactJson(json: string): any {
  try {
    return JSON.parse(json, digits as (key: string, value: unknown) => unknown);
  } catch {
    throw new MalformedRates("the response is not JSON");
  }
}
