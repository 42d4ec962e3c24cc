/** The types of catalog messages, which turn facts into words. Pure, and independent of their use. */

import * as z from "zod/mini";
import { Subject, Told } from "./facts.ts";

export type { Money } from "./facts.ts";

/** The reason for a refusal, and the next step. */
export interface Refusal {
  message: string;
  hint?: string;
}

/** The data that a client gets besides a refusal's message. */
const Details = z.looseObject({
  /** The records that prevent the write. */
  rows: z.optional(z.array(z.looseObject({ subject: Subject }))),
  proposal_id: z.optional(z.string()),
});

/**
 * A refusal as facts. The client sees the first part of the code, while the whole code selects the words. The words
 * use `params`; of these, the client also gets `details`, and `of_items` names the item of a call.
 */
export const RefusalFacts = z.object({
  code: z.string(),
  params: z.optional(z.looseObject({ details: z.optional(Details) })),
  /** The argument at fault; absent for a problem with the call as a whole. */
  field: z.optional(z.string()),
});
export type RefusalFacts = z.infer<typeof RefusalFacts>;

/** Any other message as facts: a code from a closed list, and its parameters. */
export const Said = z.object({ code: z.string(), params: z.optional(Told) });
export type Said = z.infer<typeof Said>;

/** The finished part of a call's work. */
export interface Progress {
  progress: number;
  total: number;
}

/** A list in a result whose text shows only the first items. */
export interface Cut {
  key: string;
  shown: number;
  all: number;
}

/** The difference between two amounts; without `share` if it rounds to 0%. */
export interface Difference {
  /** Formatted for the reader's locale: "8%". */
  share?: string;
  isLess: boolean;
}

/** The allowed length or range of a value. */
export interface Limit {
  bound: "least" | "most";
  value: number;
  is_inclusive?: boolean;
}

/** The unit of a length. */
export type Unit = "character" | "item" | "field";
