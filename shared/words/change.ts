/** Summarizes a change. */
import * as z from "zod/mini";
import { DATA_FORMAT, type EffectFormat } from "./effect_format.ts";
import { Told } from "./facts.ts";
import type { Words } from "./words.ts";
import { findWords } from "./codes.ts";
import { presentSyncedBill, type SyncedBill } from "./synced_bill.ts";

/** A change as the database stores it: the tool that made it, and its facts. */
export const ChangeFacts = z.object({ tool: z.string(), facts: Told });
export type ChangeFacts = z.infer<typeof ChangeFacts>;

/** @param format of amounts and days; the data format by default */
export function presentChange({ tool, facts }: ChangeFacts, words: Words, format: EffectFormat = DATA_FORMAT): string {
  switch (tool) {
    case "undo_change": {
      const { verb, change } = facts as { verb: "undid" | "redid"; change: ChangeFacts };
      return words.undoneChange({ verb, summary: presentChange(change, words, format) });
    }
    case "provider_sync": {
      const { provider, bill } = facts as { provider: string; bill: SyncedBill };
      return words.fetchedFrom({ provider, outcome: presentSyncedBill(bill, words).text });
    }
    default:
      return findWords(words.changes, tool, words.answer.unknownText)(facts, format);
  }
}
