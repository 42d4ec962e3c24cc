/** `update_expenses`: labels a missing category and former members, before and after. */
import type { Facts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";
import { nameShared } from "./shared.ts";

export function presentUpdatedExpenses({ updated, split, ...data }: Facts, { labels }: Words): Facts {
  const named = (fields: Facts, other: Facts) =>
    "category" in other && !("category" in fields) ? { ...fields, category: labels.uncategorized } : fields;
  return {
    ...data,
    ...(split && {
      split: split.map((part: Facts) => ({ ...part, category: part.category ?? labels.uncategorized })),
    }),
    updated: updated.map((row: Facts) => ({
      ...row,
      before: named(nameShared(row.before, labels), row.after),
      after: named(nameShared(row.after, labels), row.before),
    })),
  };
}
