/** `log_expenses`: labels missing categories. */
import type { Facts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";

export const presentLoggedExpenses = ({ results, ...data }: Facts, { labels }: Words): Facts => ({
  ...data,
  results: results.map((row: Facts) => ({ ...row, category: row.category ?? labels.uncategorized })),
});
