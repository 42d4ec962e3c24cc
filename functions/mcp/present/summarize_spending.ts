/** `summarize_spending`: labels groups without a name, and states the shares and the conversion rule. */
import { sharePercents } from "../../../shared/amounts.ts";
import type { Facts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";

/** A name, or why there is none. */
type Group = string | { none: keyof Words["groups"] };

export function presentSpending({ fx, rows, ...data }: Facts, { rateRule, groups }: Words): Facts {
  const shares = sharePercents(rows.map(({ amount }: Facts) => amount), data.total.amount);
  return {
    ...data,
    rows: rows.map((row: Facts, place: number) => ({
      ...row,
      group: row.group.map((group: Group) => typeof group === "string" ? group : groups[group.none]),
      ...(shares && { share_percent: shares[place] }),
    })),
    fx: { rule: rateRule, ...fx },
  };
}
