/** The outcome of fetching a bill's amount, as a sentence. */
import * as z from "zod/mini";
import { findWords } from "./codes.ts";
import { Said } from "./message.ts";
import type { Words } from "./words.ts";

export const SyncedBill = z.object({ said: Said, new: z.optional(z.string()) });
export type SyncedBill = z.infer<typeof SyncedBill>;

/** The sentence uses the row's own amounts, under the names that sentences expect. */
export const presentSyncedBill = ({ said, ...bill }: SyncedBill, { outcomes, answer }: Words) => ({
  ...bill,
  text: findWords(outcomes, said.code, answer.unknownText)({ ...bill, amount: bill.new, ...said.params }),
});
