/** The types of catalog messages: facts in, words out. Pure, and independent of where they are shown. */

import * as z from "zod/mini";
import { Subject, Told } from "./facts.ts";

export type { Money } from "./facts.ts";

/** Why something was refused, and what to do about it. */
export interface Refusal {
  message: string;
  hint?: string;
}

/** The data that a client gets beside a refusal's message. */
const Details = z.looseObject({
  /** What stands in the way. */
  rows: z.optional(z.array(z.looseObject({ subject: Subject }))),
  proposal_id: z.optional(z.string()),
});

/**
 * A refusal as facts. The client sees the first part of the code; the whole code selects the words, which are made from
 * `params`. Of these, `details` also reach the client, and `of_items` says which of several items of a call is meant.
 */
export const RefusalFacts = z.object({
  code: z.string(),
  params: z.optional(z.looseObject({ details: z.optional(Details) })),
  /** The argument at fault; absent when it is the call as a whole. */
  field: z.optional(z.string()),
});
export type RefusalFacts = z.infer<typeof RefusalFacts>;

/** Any other message as facts: a code of a closed list, and its parameters. */
export const Said = z.object({ code: z.string(), params: z.optional(Told) });
export type Said = z.infer<typeof Said>;

/** How much of a call's work is done. */
export interface Progress {
  progress: number;
  total: number;
}

/** A list in a result of which the text shows only the first items. */
export interface Cut {
  key: string;
  shown: number;
  all: number;
}

/** The difference between two amounts; no `share` if it rounds to 0%. */
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
