/** Validates the shape of a provider's response. */
import type * as z from "zod/mini";
import { ProviderError } from "./provider_error.ts";

/**
 * The response if it has the expected shape; ignores unknown members.
 * @throws {ProviderError} `bad_shape`, quoting nothing from the response.
 */
export function expectShape<Shape>(schema: z.ZodMiniType<Shape>, answer: unknown): Shape {
  const { success, data } = schema.safeParse(answer);
  if (!success) throw new ProviderError("bad_shape", "The response does not match the documentation");
  return data;
}
