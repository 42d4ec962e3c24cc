/** `list_expenses`: labels missing categories, and writes the rows as CSV. */
import { writeExpenses } from "../../../shared/export/expense_file.ts";
import type { Facts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";

const presentShares = ({ paid_by, shares }: Facts, { formerMember }: Words["labels"]): Facts => ({
  paid_by: paid_by ?? formerMember,
  shares: shares.map(({ member, ...share }: Facts) => ({ member: member ?? formerMember, ...share })),
});

export const presentExpenses = ({ rows, csv, ...data }: Facts, { labels }: Words): Facts => ({
  ...data,
  ...(rows && {
    rows: rows.map(({ shared, ...row }: Facts) => ({
      ...row,
      category: row.category ?? labels.uncategorized,
      ...(shared && { shared: presentShares(shared, labels) }),
    })),
  }),
  ...(csv && { csv: writeExpenses(csv, labels) }),
});
