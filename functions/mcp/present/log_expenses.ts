/** `log_expenses`: labels missing categories, also those of a split's parts. */
import type { Facts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";
import { nameShared } from "./shared.ts";

export const presentLoggedExpenses = ({ results, ...data }: Facts, { labels }: Words): Facts => ({
  ...data,
  results: results.map((row: Facts) =>
    row.split ? { ...row, split: row.split.map((part: Facts) => labelled(part, labels)) } : labelled(row, labels)
  ),
});

const labelled = (row: Facts, labels: Words["labels"]) => ({
  ...nameShared(row, labels),
  category: row.category ?? (row.category_source === "none" ? labels.noCategoryMatched : labels.uncategorized),
});
