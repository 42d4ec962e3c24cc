/** `list_expenses`: labels missing categories, and writes the rows as CSV. */
import { writeExpenses } from "../../../shared/export/expense_file.ts";
import type { Facts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";
import { nameShared } from "./shared.ts";

export const presentExpenses = ({ rows, csv, ...data }: Facts, { labels }: Words): Facts => ({
  ...data,
  ...(rows && {
    rows: rows.map((row: Facts) => ({ ...nameShared(row, labels), category: row.category ?? labels.uncategorized })),
  }),
  ...(csv && { csv: writeExpenses(csv, labels) }),
});
