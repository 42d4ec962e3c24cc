/** Approval rules and pending proposals, as the database returns them. */
import * as z from "zod/mini";
import { outcome } from "../outcome.ts";
import { OrganizationState } from "../organization_state.ts";
import { EffectFacts, Told } from "../words/facts.ts";
import { RefusalFacts } from "../words/message.ts";

/** A rule can apply to every role that writes; viewers write nothing. */
export const WritingRole = z.enum(["owner", "manager", "member"]);
export type WritingRole = z.infer<typeof WritingRole>;

export const Approver = z.enum(["manager", "owner"]);
export type Approver = z.infer<typeof Approver>;

/** A rule about approvals: writes by a tool and by roles, beyond an amount or a number of records if it has limits. */
export const NewRule = z.object({
  /** Null for every tool that writes. */
  tool: z.nullable(z.string()),
  roles: z.array(WritingRole),
  /** A decimal in `currency`. */
  over: z.nullable(z.string()),
  currency: z.nullable(z.string()),
  over_records: z.nullable(z.number()),
  approver: Approver,
});
export type NewRule = z.infer<typeof NewRule>;

export const ApprovalRule = z.extend(NewRule, { id: z.string() });
export type ApprovalRule = z.infer<typeof ApprovalRule>;

/** An organization's approval rules. */
export const ApprovalPolicy = z.object({
  id: z.string(),
  name: z.string(),
  country: z.string(),
  base_currency: z.string(),
  /** Whether the reader is the owner. */
  may_change: z.boolean(),
  /** Whether people who can approve may also do so through an assistant. */
  assistants_may_approve: z.boolean(),
  rules: z.array(ApprovalRule),
});
export type ApprovalPolicy = z.infer<typeof ApprovalPolicy>;

export const ProposalState = z.enum(["pending", "approved", "refused", "withdrawn", "expired", "stale"]);

/** Why a write waits for approval. */
export const Reason = z.discriminatedUnion("reason", [
  z.object({ reason: z.literal("any"), approver: Approver }),
  z.object({ reason: z.literal("records"), limit: z.number(), records: z.number(), approver: Approver }),
  /** `total`: the amount of this write and of the person's writes in the previous 24 hours. */
  z.object({
    reason: z.literal("amount"),
    limit: z.string(),
    currency: z.string(),
    total: z.string(),
    approver: Approver,
  }),
  /** An amount that cannot be converted exceeds every limit. */
  z.object({
    reason: z.literal("unconvertible"),
    limit: z.string(),
    currency: z.string(),
    currencies: z.array(z.string()),
    approver: Approver,
  }),
]);
export type Reason = z.infer<typeof Reason>;

export const Proposal = z.object({
  id: z.string(),
  organization: z.object({ id: z.string(), name: z.string() }),
  /** The reader's country and time zone. */
  country: z.string(),
  timezone: z.string(),
  hash: z.string(),
  state: ProposalState,
  tool: z.string(),
  /** The facts of the proposed change. */
  facts: Told,
  /** Only the first effects. */
  effects: z.array(EffectFacts),
  effects_count: z.number(),
  reasons: z.array(Reason),
  /** Their address; null once they have left. */
  proposer: z.nullable(z.string()),
  is_mine: z.boolean(),
  /** The app that proposed it; null for a page. */
  client_name: z.nullable(z.string()),
  created_at: z.string(),
  expires_at: z.string(),
  approver: Approver,
  /** The addresses of the people who can decide. */
  asked: z.array(z.string()),
  may_decide: z.boolean(),
  may_withdraw: z.boolean(),
  decided_by: z.nullable(z.string()),
  decided_at: z.nullable(z.string()),
  decided_through: z.nullable(z.enum(["page", "assistant"])),
  change_id: z.nullable(z.string()),
  /** Error code of a stale proposal, or `proposer_gone` for one withdrawn with its proposer. */
  problem: z.nullable(z.string()),
});
export type Proposal = z.infer<typeof Proposal>;

/** A proposal in a list, with only the first of its effects. */
export const ListedProposal = z.omit(Proposal, { hash: true });
export type ListedProposal = z.infer<typeof ListedProposal>;

export const Proposals = z.object({
  id: z.string(),
  name: z.string(),
  state: OrganizationState,
  country: z.string(),
  timezone: z.string(),
  proposals: z.array(ListedProposal),
});
export type Proposals = z.infer<typeof Proposals>;

export type Decision = "approve" | "refuse" | "withdraw";

/**
 * `already`: decided before. `changed`: the shown version differs from the stored one. `busy`: another write has
 * locked the books; retry.
 */
export const Decided = outcome(
  ["approved", "refused", "withdrawn", "stale", "expired", "already", "changed", "not_allowed", "unknown", "busy"],
  {
    change_id: z.optional(z.string()),
    problem: z.optional(RefusalFacts),
    /** The time of the earlier decision. */
    state: z.optional(ProposalState),
  },
);

/** The number of expenses in a proposal that contains nothing else. */
export function expensesIn(
  { effects, effects_count }: Partial<Pick<Proposal, "effects">> & Pick<Proposal, "effects_count">,
): number | undefined {
  const isAllExpenses = effects && effects.length > 0 && effects.every(({ id }) => String(id).startsWith("exp_"));
  return isAllExpenses ? effects_count : undefined;
}
