/** `summarize_spending`: labels groups without a name, and states the conversion rule. */
import type { Facts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";

/** A name, or why there is none. */
type Group = string | { none: keyof Words["groups"] };

export const presentSpending = ({ fx, rows, ...data }: Facts, { rateRule, groups }: Words): Facts => ({
  ...data,
  rows: rows.map((row: Facts) => ({
    ...row,
    group: row.group.map((group: Group) => typeof group === "string" ? group : groups[group.none]),
  })),
  fx: { rule: rateRule, ...fx },
});
