/** Schemas of results that report a call's outcome. */
import * as z from "zod/mini";

/** A result with one of these outcomes and the same fields for each. */
export const outcome = <const Name extends string, Shape extends z.core.$ZodShape = Record<never, never>>(
  names: readonly [Name, ...Name[]],
  shape: Shape = {} as Shape,
) => z.object({ outcome: z.enum(names), ...shape });

/** One of several results, identified by their outcomes. */
export const either = <
  const Options extends readonly [z.core.$ZodTypeDiscriminable, ...z.core.$ZodTypeDiscriminable[]],
>(
  ...options: Options
) => z.discriminatedUnion("outcome", options);
