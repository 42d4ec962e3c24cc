/** `log_expenses`: its rows name the category, also where there is none. */
import type { Facts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";

export const presentLoggedExpenses = ({ results, ...data }: Facts, { labels }: Words): Facts => ({
  ...data,
  results: results.map((row: Facts) => ({ ...row, category: row.category ?? labels.uncategorized })),
});
