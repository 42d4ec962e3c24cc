/** Puts rules and proposals from the database into words. */
import { expensesIn, type NewRule, type Proposal, type Reason } from "../approvals/proposal.ts";
import type { EffectFormat } from "./effect_format.ts";
import type { Words } from "./words.ts";

/** The format of amounts and counts. */
type MoneyFormat = Pick<EffectFormat, "money" | "number">;

/** "delete 12 expenses" */
export const tellAct = (
  proposal: Partial<Pick<Proposal, "effects">> & Pick<Proposal, "tool" | "effects_count">,
  { approvals }: Words,
): string => approvals.act({ tool: proposal.tool, expenses: expensesIn(proposal) });

/** "Deleting expenses or bills by members, more than 5 records in 24 hours, needs approval from the owner." */
export function tellRule(rule: NewRule, { approvals }: Words, { money }: MoneyFormat): string {
  const { tool, roles, over, currency, over_records: records, approver } = rule;
  const writes: Readonly<Record<string, string>> = approvals.writes;
  return approvals.rule({
    what: tool === null ? approvals.anyChange : writes[tool] ?? tool,
    by: roles.map((role) => approvals.by[role]),
    ask: approvals.ask[approver],
    records,
    over: over === null || currency === null ? undefined : money(over, currency),
  });
}

/** A summary of a proposal with too many effects to list, such as an import. */
export function tellWhole(
  { tool, facts }: Pick<Proposal, "tool" | "facts">,
  { approvals }: Words,
  { money, number }: MoneyFormat,
): string | undefined {
  if (tool !== "import_expenses") return undefined;
  const { totals_by_currency = {}, count } = facts as { totals_by_currency?: Record<string, string>; count: number };
  const sums = Object.entries(totals_by_currency).map(([currency, amount]) => money(amount, currency));
  return approvals.importing({ count, sums, ...(number && { shown: number(count) }) });
}

/** Why a proposal waits. */
export function tellReason(reason: Reason, { approvals: { reasons } }: Words, { money, number }: MoneyFormat): string {
  switch (reason.reason) {
    case "any":
      return reasons.any;
    case "records":
      return reasons.records({ limit: reason.limit, records: reason.records }, number);
    case "amount":
      return reasons.amount({
        limit: money(reason.limit, reason.currency),
        total: money(reason.total, reason.currency),
      });
    case "unconvertible":
      return reasons.unconvertible({
        limit: money(reason.limit, reason.currency),
        currencies: reason.currencies,
      });
  }
}
