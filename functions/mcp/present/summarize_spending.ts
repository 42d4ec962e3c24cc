/** `summarize_spending`: groups that have no name get one, and it says by which rule amounts were converted. */
import type { Facts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";

/** A name, or what there is instead of one. */
type Group = string | { none: keyof Words["groups"] };

export const presentSpending = ({ fx, rows, ...data }: Facts, { rateRule, groups }: Words): Facts => ({
  ...data,
  rows: rows.map((row: Facts) => ({
    ...row,
    group: row.group.map((group: Group) => typeof group === "string" ? group : groups[group.none]),
  })),
  fx: { rule: rateRule, ...fx },
});
