/** The types of catalog messages: facts in, words out. Pure, and independent of where they are shown. */

import * as z from "zod/mini";

/** Facts from the database or a rule; each message declares which it needs. */
// deno-lint-ignore no-explicit-any -- the facts of all messages together; each message types its own
export type Facts = any;

/** Why something was refused, and what to do about it. */
export interface Refusal {
  message: string;
  hint?: string;
}

/**
 * A refusal as facts. The client sees the first part of the code; the whole code selects the words, which are made from
 * `params`. Of these, `details` also reach the client, and `of_items` says which of several items of a call is meant.
 */
export const RefusalFacts = z.object({
  code: z.string(),
  params: z.optional(z.any()),
  /** The argument at fault; absent when it is the call as a whole. */
  field: z.optional(z.string()),
});
export type RefusalFacts = z.infer<typeof RefusalFacts>;

/** Any other message as facts: a code of a closed list, and its parameters. */
export const Said = z.object({ code: z.string(), params: z.optional(z.any()) });
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

/** Money: a decimal string in major units, and an ISO 4217 code. */
export interface Money {
  amount: string;
  currency: string;
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

/** What a length counts. */
export type Unit = "character" | "item" | "field";
