/** `summarize_spending`: labels groups without a name, and states the shares and the conversion rule. */
import * as z from "zod/mini";
import { presenter } from "../../../../shared/connector/tool.ts";
import { sharePercents } from "../../../../shared/amounts.ts";
import { Group, Told } from "../../../../shared/words/facts.ts";
import type { Words } from "../../../../shared/words/words.ts";

const Spending = z.object({
  fx: z.optional(z.nullable(Told)),
  rows: z.array(z.object({ group: z.array(Group), amount: z.string(), spending: z.optional(z.string()) })),
  total: z.object({ amount: z.string() }),
});

function presentSpending(
  { fx, rows, ...data }: z.infer<typeof Spending>,
  { rateRule, groups }: Words,
) {
  const shares = sharePercents(rows.map(({ amount }) => amount), data.total.amount);
  return {
    ...data,
    rows: rows.map((row, place) => ({
      ...row,
      group: row.group.map((name) => typeof name === "string" ? name : groups[name.none]),
      // A month's sum can be negative, so months have no shares.
      ...(shares && row.spending === undefined && { share_percent: shares[place] }),
    })),
    fx: { rule: rateRule, ...fx },
  };
}

export const answer = presenter(Spending, presentSpending);
