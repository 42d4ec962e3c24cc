/** A call of a method of the events extension: its parameters, its caller, and the service's dependencies. */
import * as z from "zod/mini";
import type { Deps } from "../../../shared/deps.ts";
import type { Words } from "../../../shared/words/words.ts";

export interface EventDeps extends Pick<Deps, "config" | "database" | "clock" | "log" | "guardedFetch"> {
  resource: string;
  words: Words;
}

/** A caller with a verified token. */
export interface EventCall {
  tokenHash: string;
}

export const EventParams = z.looseObject({
  name: z.string(),
  arguments: z.optional(z.nullable(z.record(z.string(), z.unknown()))),
  cursor: z.optional(z.nullable(z.string())),
  delivery: z.optional(z.looseObject({
    mode: z.optional(z.string()),
    url: z.optional(z.string()),
    secret: z.optional(z.string()),
  })),
  ttlMs: z.optional(z.nullable(z.number())),
  maxEvents: z.optional(z.nullable(z.int().check(z.positive()))),
});
export type EventParams = z.infer<typeof EventParams>;
