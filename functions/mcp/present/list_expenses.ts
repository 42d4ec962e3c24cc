/** `list_expenses`: labels missing categories, and writes the rows as CSV. */
import * as z from "zod/mini";
import { ExpenseLine, writeExpenses } from "../../../shared/export/expense_file.ts";
import { Shared } from "../../../shared/words/facts.ts";
import type { Words } from "../../../shared/words/words.ts";
import { nameShared } from "./shared.ts";

export const Expenses = z.object({
  rows: z.optional(z.array(z.object({ category: z.optional(z.string()), shared: z.optional(Shared) }))),
  csv: z.optional(z.array(ExpenseLine)),
});

export const presentExpenses = ({ rows, csv, ...data }: z.infer<typeof Expenses>, { labels }: Words) => ({
  ...data,
  ...(rows && {
    rows: rows.map((row) => ({ ...nameShared(row, labels), category: row.category ?? labels.uncategorized })),
  }),
  ...(csv && { csv: writeExpenses(csv, labels) }),
});
