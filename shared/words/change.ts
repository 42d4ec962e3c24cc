/** Summarizes a change. */
import * as z from "zod/mini";
import { DATA_FORMAT, type EffectFormat } from "./effect_format.ts";
import type { Words } from "./words.ts";
import { findWords } from "./codes.ts";
import { presentSyncedBill } from "./synced_bill.ts";

/** A change as the database stores it: the tool that made it, and its facts. */
export const ChangeFacts = z.object({ tool: z.string(), facts: z.any() });
export type ChangeFacts = z.infer<typeof ChangeFacts>;

/** @param format how amounts and days are written; as data by default. */
export function presentChange({ tool, facts }: ChangeFacts, words: Words, format: EffectFormat = DATA_FORMAT): string {
  switch (tool) {
    case "undo_change":
      return words.undoneChange({ verb: facts.verb, summary: presentChange(facts.change, words, format) });
    case "provider_sync":
      return words.fetchedFrom({ provider: facts.provider, outcome: presentSyncedBill(facts.bill, words).text });
    default:
      return findWords(words.changes, tool, words.answer.unknownText)(facts, format);
  }
}
