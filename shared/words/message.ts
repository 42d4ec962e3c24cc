/** What a message of a catalog is: facts in, words out. Pure, and without a thought of where it is shown. */

/** Facts as the database or a rule states them; each message says which it needs. */
// deno-lint-ignore no-explicit-any -- the facts of all messages together; each message types its own
export type Facts = any;

/** Why something was refused, and what to do about it. */
export interface Refusal {
  message: string;
  hint?: string;
}

/**
 * A refusal as facts. The first part of the code is what a client sees, the whole of it names the words; `params` are what these are made of,
 * but for `details`, which reach the client beside them, and `of_items`: which of several items of a call are meant.
 */
export interface RefusalFacts {
  code: string;
  params?: Facts;
  /** The argument that is to blame; absent when it is the call as a whole. */
  field?: string;
}

/** Anything else that is said, as facts: a code of a closed list, and what its words are made of. */
export interface Said {
  code: string;
  params?: Facts;
}

/** A list of an answer of which the text shows only the first so many. */
export interface Cut {
  key: string;
  shown: number;
  all: number;
}

/** Money as facts carry it: a decimal string in major units, and an ISO 4217 code. */
export interface Money {
  amount: string;
  currency: string;
}

/** How an amount compares with another one; `share` is missing where it rounds to 0%. */
export interface Difference {
  /** As the reader's locale writes it: "8%". */
  share?: string;
  isLess: boolean;
}
