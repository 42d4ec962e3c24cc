/** Validates the shape of a provider's answer. */
import type * as z from "zod/mini";
import { ProviderError } from "./provider_error.ts";

/**
 * The answer if it has the expected shape; unknown members are ignored.
 * @throws {ProviderError} `bad_shape`, quoting nothing of the answer.
 */
export function expectShape<Shape>(schema: z.ZodMiniType<Shape>, answer: unknown): Shape {
  const { success, data } = schema.safeParse(answer);
  if (!success) throw new ProviderError("bad_shape", "The response does not match the documentation");
  return data;
}
