/** `update_bill`: the changed bill in words, and its earlier values. */
import * as z from "zod/mini";
import { presenter } from "../../../../shared/connector/tool.ts";
import { Schedule, Shared, ShareNote } from "../../../../shared/words/facts.ts";
import { Bill, presentBill } from "../../present/bill.ts";
import { nameShared } from "../../present/shared.ts";

/** `before` contains only changed fields. */
const UpdatedBill = z.object({
  bill: Bill,
  before: z.object({
    schedule: z.optional(Schedule),
    shared: z.optional(Shared),
    share_note: z.optional(ShareNote),
  }),
});

export const answer = presenter(
  UpdatedBill,
  ({ bill, before: { schedule, share_note, ...before }, ...data }, words) => {
    const shown = presentBill(bill, words);
    const schedule_text = schedule && words.schedule(schedule);
    // A schedule counted from another date may have the same words.
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
  },
);
