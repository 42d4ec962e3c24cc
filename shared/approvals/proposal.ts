/** Approval rules and pending proposals, as the database returns them. */
import type { OrganizationState } from "../organization_state.ts";
import type { Role } from "../roles.ts";
import type { Facts } from "../words/message.ts";

/** Whoever writes can be bound by a rule; viewers write nothing. */
export type WritingRole = Exclude<Role, "viewer">;
export type Approver = "manager" | "owner";

/** What needs approval: writes by a tool and roles, beyond an amount or a number of records if there are limits. */
export interface NewRule {
  /** Null for every tool that writes. */
  tool: string | null;
  roles: WritingRole[];
  /** A decimal in `currency`. */
  over: string | null;
  currency: string | null;
  over_records: number | null;
  approver: Approver;
}

export interface ApprovalRule extends NewRule {
  id: string;
}

/** What an organization lets assistants write only after approval. */
export interface ApprovalPolicy {
  id: string;
  name: string;
  country: string;
  base_currency: string;
  /** Whether the reader is the owner. */
  may_change: boolean;
  /** Whether people who can approve may also do so through an assistant. */
  assistants_may_approve: boolean;
  rules: ApprovalRule[];
}

export type ProposalState = "pending" | "approved" | "refused" | "withdrawn" | "expired" | "stale";

/** Why a write waits. */
export type Reason =
  | { reason: "any" }
  | { reason: "records"; limit: number; records: number }
  /** `total`: the amount of this write and of the person's writes in the previous 24 hours. */
  | { reason: "amount"; limit: string; currency: string; total: string }
  /** What cannot be converted exceeds every limit. */
  | { reason: "unconvertible"; limit: string; currency: string; currencies: string[] };

export interface Proposal {
  id: string;
  organization: { id: string; name: string };
  /** The reader's country and time zone. */
  country: string;
  timezone: string;
  hash: string;
  state: ProposalState;
  tool: string;
  /** Of the change that it would be. */
  facts: Facts;
  /** Only the first ones. */
  effects: Facts[];
  effects_count: number;
  reasons: Reason[];
  /** Their address; null once they have left. */
  proposer: string | null;
  is_mine: boolean;
  /** The app that asked; null for a page. */
  client_name: string | null;
  created_at: string;
  expires_at: string;
  approver: Approver;
  /** Who can decide, by address. */
  asked: string[];
  may_decide: boolean;
  may_withdraw: boolean;
  decided_by: string | null;
  decided_at: string | null;
  decided_through: "page" | "assistant" | null;
  change_id: string | null;
  /** Error code of a stale proposal, or `proposer_gone` for one withdrawn with its proposer. */
  problem: string | null;
}

/** A proposal in a list, with only the first of its effects. */
export type ListedProposal = Omit<Proposal, "hash">;

export interface Proposals {
  id: string;
  name: string;
  state: OrganizationState;
  country: string;
  timezone: string;
  proposals: ListedProposal[];
}

export type Decision = "approve" | "refuse" | "withdraw";

/**
 * `already`: decided before. `changed`: the shown version differs from the stored one. `busy`: another write holds the
 * books; retry.
 */
export type Decided =
  | { outcome: "approved" | "refused" | "withdrawn" | "stale" | "expired" }
  | { outcome: "already" | "changed" | "not_allowed" | "unknown" | "busy" };

/** How many expenses a proposal is about, when it is about nothing else that is known. */
export function expensesIn(
  { effects, effects_count }: Partial<Pick<Proposal, "effects">> & Pick<Proposal, "effects_count">,
): number | undefined {
  const isAllExpenses = effects && effects.length > 0 && effects.every(({ id }) => String(id).startsWith("exp_"));
  return isAllExpenses ? effects_count : undefined;
}
