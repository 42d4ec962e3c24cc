/** A bill as all tools show it: schedule in words, and labels for a missing category and former members. */
import type { Facts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";
import { nameShared } from "./shared.ts";

/** @param bill from `app.describe_bills`. */
export const presentBill = ({ schedule, ...bill }: Facts, words: Words): Facts => ({
  ...nameShared(bill, words.labels),
  category: bill.category ?? words.labels.uncategorized,
  schedule_text: words.schedule(schedule),
  ...(bill.provider?.needs_review && {
    provider: { ...bill.provider, needs_review: presentQuestion(bill.provider.needs_review) },
  }),
});

/** An amount that a provider reported. Only the sentence of `review_bills` needs the statement's month. */
export const presentQuestion = ({ period: _, ...question }: Facts): Facts => question;

/** `list_bills` */
export const presentBills = ({ bills, ...data }: Facts, words: Words): Facts => ({
  ...data,
  bills: bills.map((bill: Facts) => presentBill(bill, words)),
});

/** `add_bill` */
export const presentAddedBill = ({ bill, ...data }: Facts, words: Words): Facts => ({
  ...data,
  bill: presentBill(bill, words),
});

/** `update_bill`: `before` has only what changed. */
export const presentUpdatedBill = ({ bill, before: { schedule, ...before }, ...data }: Facts, words: Words): Facts => ({
  ...data,
  bill: presentBill(bill, words),
  before: { ...nameShared(before, words.labels), ...(schedule && { schedule_text: words.schedule(schedule) }) },
});
