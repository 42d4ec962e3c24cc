/** JSON whose numbers stay as they are written, so that no amount passes through binary; and what shape it must have. */
import type { z } from "zod";
import { ProviderError } from "./provider_error.ts";

/**
 * As `JSON.parse`, with every number as the text of its digits (ECMA-262, JSON.parse source text access).
 * @throws {ProviderError} `bad_shape`
 */
export function parseExactly(text: string): unknown {
  try {
    return JSON.parse(text, digits as (key: string, value: unknown) => unknown);
  } catch {
    // Also what is nested deeper than the stack: the reviver walks it recursively.
    throw new ProviderError("bad_shape", "The answer is not JSON");
  }
}

function digits(_key: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === "number" ? context?.source ?? String(value) : value;
}

/**
 * What was answered, if it is what was expected; more than that is ignored.
 * @throws {ProviderError} `bad_shape`, with nothing of what was answered.
 */
export function expectShape<Shape>(schema: z.ZodType<Shape>, answer: unknown): Shape {
  const { success, data } = schema.safeParse(answer);
  if (!success) throw new ProviderError("bad_shape", "The answer lacks what it is documented to have");
  return data;
}
