/** `sync_bill_amounts`: a sentence per bill on the outcome. */
import type { Facts } from "./message.ts";
import type { Words } from "./words.ts";
import { findWords } from "./codes.ts";

export const presentSyncedBills = ({ bills, ...data }: Facts, words: Words): Facts => ({
  ...data,
  bills: bills.map((bill: Facts) => presentSyncedBill(bill, words)),
});

/** The sentence uses the row's own amounts, under the names that sentences expect. */
export const presentSyncedBill = ({ said, ...bill }: Facts, { outcomes, answer }: Words): Facts => ({
  ...bill,
  text: findWords(outcomes, said.code, answer.unknownText)({
    ...bill,
    amount: bill.new,
    ...said.params,
  }),
});
