/** A bill as all tools show it: schedule in words, and labels for a missing category and former members. */
import * as z from "zod/mini";
import { Question, Schedule, Shared, ShareNote } from "../../../shared/words/facts.ts";
import type { Words } from "../../../shared/words/words.ts";
import { nameShared } from "./shared.ts";

/** From `app.describe_bills`. */
export const Bill = z.object({
  schedule: Schedule,
  category: z.optional(z.string()),
  shared: z.optional(Shared),
  share_note: z.optional(ShareNote),
  provider: z.optional(z.object({ needs_review: z.optional(Question) })),
});
export type Bill = z.infer<typeof Bill>;

export const Bills = z.object({ bills: z.array(Bill) });
export const AddedBill = z.object({ bill: Bill });
/** `before` has only what changed. */
export const UpdatedBill = z.extend(AddedBill, {
  before: z.object({
    schedule: z.optional(Schedule),
    shared: z.optional(Shared),
    share_note: z.optional(ShareNote),
  }),
});

export const presentBill = ({ schedule, share_note, ...bill }: Bill, words: Words) => ({
  ...nameShared(bill, words.labels),
  category: bill.category ?? words.labels.uncategorized,
  schedule_text: words.schedule(schedule),
  ...(share_note && { share_note: words.shareNote(share_note) }),
  ...(bill.provider?.needs_review && {
    provider: { ...bill.provider, needs_review: presentQuestion(bill.provider.needs_review) },
  }),
});

/** An amount that a provider reported. Only the sentence of `review_bills` needs the statement's month. */
export const presentQuestion = ({ period: _, ...question }: Question) => question;

/** `list_bills` */
export const presentBills = ({ bills, ...data }: z.infer<typeof Bills>, words: Words) => ({
  ...data,
  bills: bills.map((bill) => presentBill(bill, words)),
});

/** `add_bill` */
export const presentAddedBill = ({ bill, ...data }: z.infer<typeof AddedBill>, words: Words) => ({
  ...data,
  bill: presentBill(bill, words),
});

/** `update_bill` */
export const presentUpdatedBill = (
  { bill, before: { schedule, share_note, ...before }, ...data }: z.infer<typeof UpdatedBill>,
  words: Words,
) => {
  const shown = presentBill(bill, words);
  const schedule_text = schedule && words.schedule(schedule);
  // Counted from another date, it may be the same in words.
  const isOther = schedule_text && schedule_text !== shown.schedule_text;
  return {
    ...data,
    bill: shown,
    before: {
      ...nameShared(before, words.labels),
      ...(isOther && { schedule_text }),
      ...(share_note && { share_note: words.shareNote(share_note) }),
    },
  };
};
