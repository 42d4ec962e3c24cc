/** `log_expenses`: labels missing categories, including those of a split's parts. */
import * as z from "zod/mini";
import { presenter } from "../../../../shared/connector/tool.ts";
import { Shared } from "../../../../shared/words/facts.ts";
import type { Words } from "../../../../shared/words/words.ts";
import { nameShared } from "../../present/shared.ts";

const Logged = z.object({
  /** For an item that is a balance instead of spending. */
  kind: z.optional(z.string()),
  category: z.optional(z.string()),
  category_source: z.optional(z.string()),
  shared: z.optional(Shared),
});
const LoggedExpenses = z.object({
  results: z.array(z.extend(Logged, { split: z.optional(z.array(Logged)) })),
});

const presentLoggedExpenses = ({ results, ...data }: z.infer<typeof LoggedExpenses>, { labels }: Words) => ({
  ...data,
  results: results.map((row) =>
    row.split ? { ...row, split: row.split.map((part) => labelled(part, labels)) } : labelled(row, labels)
  ),
});

const labelled = (row: z.infer<typeof Logged>, labels: Words["labels"]) => ({
  ...nameShared(row, labels),
  ...(!row.kind &&
    { category: row.category ?? (row.category_source === "none" ? labels.noCategoryMatched : labels.uncategorized) }),
});

export const answer = presenter(LoggedExpenses, presentLoggedExpenses);
