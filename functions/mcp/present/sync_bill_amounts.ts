/** `sync_bill_amounts`: each bill gets a sentence on what became of asking. */
import type { Facts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";
import { findWords } from "./find_words.ts";

export const presentSyncedBills = ({ bills, ...data }: Facts, words: Words): Facts => ({
  ...data,
  bills: bills.map((bill: Facts) => presentSyncedBill(bill, words)),
});

/** The amounts in the sentence are the row's own, by the names that sentences have for them. */
export const presentSyncedBill = ({ said, ...bill }: Facts, { outcomes, answer }: Words): Facts => ({
  ...bill,
  text: findWords(outcomes, said.code, answer.unknownText)({
    ...bill,
    amount: bill.new,
    ...said.params,
  }),
});
