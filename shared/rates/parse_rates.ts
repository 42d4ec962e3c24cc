/** Reads JSON whose numbers are rates. */
import { parseExactJson } from "../exact_json.ts";
import { MalformedRates } from "./rate_set.ts";

/** Numbers arrive as strings. @throws {MalformedRates} */
// deno-lint-ignore no-explicit-any -- the caller checks its type
export function parseRates(json: string): any {
  try {
    return parseExactJson(json);
  } catch {
    throw new MalformedRates("the response is not JSON");
  }
}
