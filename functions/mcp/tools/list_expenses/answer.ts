/** `list_expenses`: labels missing categories, names the payer once, and writes the rows as CSV. */
import * as z from "zod/mini";
import { presenter } from "../../../../shared/connector/tool.ts";
import { ExpenseLine, writeExpenses } from "../../../../shared/export/expense_file.ts";
import { Shared } from "../../../../shared/words/facts.ts";
import type { Words } from "../../../../shared/words/words.ts";
import { nameShared } from "../../present/shared.ts";

const Expenses = z.object({
  rows: z.optional(z.array(z.object({
    kind: z.optional(z.string()),
    category: z.optional(z.string()),
    paid_by: z.optional(z.string()),
    shared: z.optional(Shared),
  }))),
  csv: z.optional(z.array(ExpenseLine)),
});

const presentExpenses = ({ rows, csv, ...data }: z.infer<typeof Expenses>, { labels }: Words) => ({
  ...data,
  ...(rows && {
    rows: rows.map(({ paid_by, ...row }) => ({
      ...nameShared(row, labels),
      ...(row.kind !== "income" && { category: row.category ?? labels.uncategorized }),
      ...(paid_by !== undefined && !row.shared && { paid_by: paid_by || labels.notNamed }),
    })),
  }),
  ...(csv && { csv: writeExpenses(csv, labels) }),
});

export const answer = presenter(Expenses, presentExpenses);
