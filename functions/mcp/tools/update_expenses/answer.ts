/** `update_expenses`: labels a missing category and former members, before and after. */
import * as z from "zod/mini";
import { presenter } from "../../../../shared/connector/tool.ts";
import { Shared } from "../../../../shared/words/facts.ts";
import type { Words } from "../../../../shared/words/words.ts";
import { nameShared } from "../../present/shared.ts";

/** Contains only changed fields. */
const Fields = z.object({ category: z.optional(z.string()), shared: z.optional(Shared) });
type Fields = z.infer<typeof Fields>;

const UpdatedExpenses = z.object({
  updated: z.array(z.object({ before: Fields, after: Fields })),
  split: z.optional(z.array(z.object({ category: z.optional(z.string()) }))),
});

function presentUpdatedExpenses(
  { updated, split, ...data }: z.infer<typeof UpdatedExpenses>,
  { labels }: Words,
) {
  const named = (fields: Fields, other: Fields) =>
    "category" in other && !("category" in fields) ? { ...fields, category: labels.uncategorized } : fields;
  return {
    ...data,
    ...(split && { split: split.map((part) => ({ ...part, category: part.category ?? labels.uncategorized })) }),
    updated: updated.map((row) => ({
      ...row,
      before: named(nameShared(row.before, labels), row.after),
      after: named(nameShared(row.after, labels), row.before),
    })),
  };
}

export const answer = presenter(UpdatedExpenses, presentUpdatedExpenses);
