/** A bill as every tool shows it: its schedule in words, and a category also where it has none. */
import type { Facts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";

/** @param bill of `app.describe_bills`. */
export const presentBill = ({ schedule, ...bill }: Facts, words: Words): Facts => ({
  ...bill,
  category: bill.category ?? words.labels.uncategorized,
  schedule_text: words.schedule(schedule),
  ...(bill.provider?.needs_review && {
    provider: { ...bill.provider, needs_review: presentQuestion(bill.provider.needs_review) },
  }),
});

/** What a provider says; the month of its statement is for the sentence of `review_bills` alone. */
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

/** `update_bill`: before has only what changed. */
export const presentUpdatedBill = ({ bill, before: { schedule, ...before }, ...data }: Facts, words: Words): Facts => ({
  ...data,
  bill: presentBill(bill, words),
  before: { ...before, ...(schedule && { schedule_text: words.schedule(schedule) }) },
});
