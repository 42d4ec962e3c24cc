/** Puts a tool's data into words, by the tool's `answer.ts`. */
import type { Presenter } from "../../../shared/connector/tool.ts";
import type { Told } from "../../../shared/words/facts.ts";
import type { Words } from "../../../shared/words/words.ts";
import { TOOLS } from "../tools/mod.ts";
import { answer as syncedBills } from "../tools/sync_bill_amounts/answer.ts";

export const PRESENTERS: ReadonlyMap<string, Presenter> = new Map([
  ...TOOLS.flatMap(({ listed, answer }) => answer ? [[listed.name as string, answer] as const] : []),
  // The second call of `sync_bill_amounts`; its answer replaces the first one's.
  ["store_bill_amounts", syncedBills],
]);

export const presentData = (tool: string, data: Told, words: Words): Told =>
  PRESENTERS.get(tool)?.present(data, words) ?? data;
