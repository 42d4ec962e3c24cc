/** A bill as all tools show it: its schedule in words, and labels for a missing category and former members. */
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
