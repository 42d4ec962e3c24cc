/** Database calls of the pages and mails about approvals. */
import * as z from "zod/mini";
import { either, outcome } from "../outcome.ts";
import { ApprovalPolicy, Decided, type Decision, type NewRule, Proposal, Proposals } from "../approvals/proposal.ts";
import { OrganizationState } from "../organization_state.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";

type InOrganization = { userId: string; organizationId: string; at: Date };
type OfProposal = { userId: string; proposalId: string; at: Date };

export type ApprovalStore = ReturnType<typeof createApprovalStore>;

export const ANSWERS = {
  read_approval_policy: z.nullable(ApprovalPolicy),
  change_approval_policy: either(
    outcome(["changed", "unknown", "not_allowed", "busy"]),
    outcome(["too_many"], { most: z.number() }),
    outcome(["invalid"], { field: z.string() }),
  ),
  read_proposals: z.nullable(Proposals),
  read_proposal: either(outcome(["found"], { proposal: Proposal, state: OrganizationState }), outcome(["unknown"])),
  decide_proposal: Decided,
};

/** Every method throws what `Database.call` throws. */
export function createApprovalStore(database: Database) {
  const ask = asking(database, ANSWERS);
  return {
    /** Null without the right to decide proposals. */
    readPolicy: ({ userId, organizationId, at }: InOrganization) =>
      ask("read_approval_policy", { user_id: userId, organization_id: organizationId, at }),

    changePolicy: (asked: InOrganization & { rules: NewRule[]; assistantsMayApprove: boolean }) =>
      ask("change_approval_policy", {
        user_id: asked.userId,
        organization_id: asked.organizationId,
        rules: asked.rules,
        assistants_may_approve: asked.assistantsMayApprove,
        at: asked.at,
      }),

    /** Pending proposals, and those of the last 30 days that the person may see; null without a membership. */
    list: ({ userId, organizationId, at }: InOrganization) =>
      ask("read_proposals", { user_id: userId, organization_id: organizationId, at }),

    read: ({ userId, proposalId, at }: OfProposal) =>
      ask("read_proposal", { user_id: userId, proposal_id: proposalId, at }),

    /** @param asked.hash hash of the displayed effects */
    decide: ({ userId, proposalId, hash, decision, at }: OfProposal & { hash: string; decision: Decision }) =>
      ask("decide_proposal", { user_id: userId, proposal_id: proposalId, hash, decision, at }),
  };
}
