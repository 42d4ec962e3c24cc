/** Database calls of the pages about members, invitations and further organizations: one per page view or change. */
import * as z from "zod/mini";
import { either, outcome } from "../outcome.ts";
import { Proposal } from "../approvals/proposal.ts";
import { OwnBalance } from "../mail/claimed_mail.ts";
import { OrganizationState } from "../organization_state.ts";
import { Role } from "../roles.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";

/** A role that an invitation or a change can assign. */
export const GivenRole = z.enum(["manager", "member", "viewer"]);
export type GivenRole = z.infer<typeof GivenRole>;

export const Member = z.object({
  user_id: z.string(),
  email: z.string(),
  role: Role,
  /** Whether the owner opened private categories to this viewer. */
  sees_private: z.boolean(),
  /** Whether the reader may change their role or remove them. */
  may_change: z.boolean(),
});
export type Member = z.infer<typeof Member>;

export const OpenInvitation = z.object({
  id: z.string(),
  address: z.string(),
  role: GivenRole,
  expires_at: z.string(),
  is_expired: z.boolean(),
  may_change: z.boolean(),
});
export type OpenInvitation = z.infer<typeof OpenInvitation>;

/** The members of an organization, with the reader's access. */
export const Members = z.object({
  id: z.string(),
  name: z.string(),
  /** The reader's role. */
  role: Role,
  may_manage: z.boolean(),
  state: OrganizationState,
  /** Whether the plan allows further members. */
  may_grow: z.boolean(),
  country: z.string(),
  members: z.array(Member),
  /** Empty without the right to invite. */
  invitations: z.array(OpenInvitation),
  /** A hand-over that waits for the reader's confirmation, or that the reader proposed. */
  handover: z.nullable(z.object({
    id: z.string(),
    from: z.string(),
    to: z.string(),
    to_me: z.boolean(),
    expires_at: z.string(),
  })),
});
export type Members = z.infer<typeof Members>;

/** The consequences of removing a member: counts of the items that end or remain. */
export const Removal = z.object({
  organization_name: z.string(),
  /** For tabs; absent in the previous version's database. */
  state: z.optional(OrganizationState),
  email: z.string(),
  /** The reader's country and time zone. */
  country: z.string(),
  timezone: z.string(),
  /** Their debts and claims from shared costs, which remain. */
  balances: z.array(OwnBalance),
  /** Their pending proposals, which will be withdrawn. */
  waiting: z.array(
    z.pick(Proposal, { id: true, tool: true, facts: true, effects: true, effects_count: true, created_at: true }),
  ),
  /** Bills and expenses assigned to them. */
  assigned: z.number(),
  apps: z.number(),
  has_calendar: z.boolean(),
  /** Their uncommitted imports. */
  imports: z.number(),
  /** The organization's provider connections, which remain. */
  links: z.number(),
  /** Fetched amounts that wait for a decision, which remain. */
  proposals: z.number(),
  /** Their open invitations. */
  invitations: z.number(),
});
export type Removal = z.infer<typeof Removal>;

/**
 * Why an invitation cannot be accepted; `leaving`: their account is being deleted, `plan`: the organization's plan no
 * longer includes further members.
 */
const ENDS = ["already_member", "leaving", "used", "withdrawn", "expired", "plan"] as const;
export type InvitationEnd = typeof ENDS[number];

export const ShownInvitation = outcome(["open", ...ENDS], {
  organization_id: z.string(),
  organization_name: z.string(),
  inviter: z.string(),
  role: GivenRole,
  expires_at: z.string(),
  /** The invited address. */
  address: z.string(),
  /** Whether the reader, or the holder of the invited address, has completed onboarding. */
  onboarded: z.boolean(),
});
export type ShownInvitation = z.infer<typeof ShownInvitation>;

type Person = { userId: string; at: Date };
type InOrganization = Person & { organizationId: string };
type OfMember = InOrganization & { memberId: string };
/** @param tokenHash SHA-256, hexadecimal. */
type WithLink = { tokenHash: string };

export type MembersStore = ReturnType<typeof createMembersStore>;

export const ANSWERS = {
  read_members: z.nullable(Members),
  invite_member: either(
    outcome(["invited"], { organization_name: z.string() }),
    outcome(["not_allowed", "plan", "already_member"]),
    outcome(["too_many"], { most: z.number() }),
  ),
  resend_invitation: either(
    outcome(["invited"], { address: z.string(), role: GivenRole, organization_name: z.string() }),
    outcome(["unknown", "not_allowed", "plan"]),
  ),
  withdraw_invitation: outcome(["withdrawn", "unknown", "not_allowed"]),
  read_invitation: either(
    ShownInvitation,
    outcome(["for_another"], { masked_address: z.string() }),
    outcome(["unknown"]),
  ),
  accept_invitation: either(
    outcome(["accepted", ...ENDS], { organization_id: z.string() }),
    outcome(["unknown", "for_another", "not_onboarded"]),
  ),
  change_member_role: outcome(["changed", "not_allowed", "unknown"]),
  open_private: outcome(["changed", "unknown"]),
  read_removal: z.nullable(Removal),
  remove_member: outcome(["removed", "unknown"]),
  propose_owner: either(
    outcome(["proposed"], { address: z.string(), organization_name: z.string() }),
    outcome(["unknown"]),
  ),
  end_handover: outcome(["ended", "unknown"]),
  accept_handover: outcome(["accepted", "unknown"]),
  read_new_organization: z.nullable(
    z.object({ country: z.string(), gets_trial: z.nullable(z.boolean()), currencies: z.array(z.string()) }),
  ),
  create_organization: either(
    outcome(["created"], { organization_id: z.string() }),
    outcome(["invalid"], { field: z.literal("base_currency") }),
    outcome(["too_many"], { most: z.number() }),
    outcome(["unknown", "leaving"]),
  ),
};

/** Every method throws what `Database.call` throws. */
export function createMembersStore(database: Database) {
  const ask = asking(database, ANSWERS);
  const ofMember = ({ userId, organizationId, memberId, at }: OfMember) => ({
    user_id: userId,
    organization_id: organizationId,
    member_id: memberId,
    at,
  });
  return {
    /** Null without a membership. */
    read: ({ userId, organizationId, at }: InOrganization) =>
      ask("read_members", { user_id: userId, organization_id: organizationId, at }),

    /** A second invitation to an address invalidates the first link. */
    invite: (asked: InOrganization & WithLink & { address: string; role: GivenRole }) =>
      ask("invite_member", {
        user_id: asked.userId,
        organization_id: asked.organizationId,
        address: asked.address,
        role: asked.role,
        token_hash: asked.tokenHash,
        at: asked.at,
      }),

    resend: ({ userId, invitationId, tokenHash, at }: Person & WithLink & { invitationId: string }) =>
      ask("resend_invitation", { user_id: userId, invitation_id: invitationId, token_hash: tokenHash, at }),

    withdraw: ({ userId, invitationId, at }: Person & { invitationId: string }) =>
      ask("withdraw_invitation", { user_id: userId, invitation_id: invitationId, at }),

    /** @param user null if the recipient is not signed in yet */
    readInvitation: ({ user, tokenHash, at }: WithLink & { user: { id: string; email: string } | null; at: Date }) =>
      ask("read_invitation", { token_hash: tokenHash, user_id: user?.id ?? null, email: user?.email ?? null, at }),

    accept: ({ userId, email, tokenHash, at }: Person & WithLink & { email: string }) =>
      ask("accept_invitation", { token_hash: tokenHash, user_id: userId, email, at }),

    changeRole: (asked: OfMember & { role: GivenRole }) =>
      ask("change_member_role", { ...ofMember(asked), role: asked.role }),

    openPrivate: (asked: OfMember & { seesPrivate: boolean }) =>
      ask("open_private", { ...ofMember(asked), sees_private: asked.seesPrivate }),

    /** Null when they may not remove that member. */
    readRemoval: (asked: OfMember) => ask("read_removal", ofMember(asked)),

    /** Also used for leaving. */
    remove: (asked: OfMember) => ask("remove_member", ofMember(asked)),

    proposeOwner: (asked: OfMember) =>
      ask(
        "propose_owner",
        ofMember(asked),
      ),

    /** Withdraws or declines a hand-over. */
    endHandover: ({ userId, organizationId, handoverId, at }: InOrganization & { handoverId: string }) =>
      ask("end_handover", { user_id: userId, organization_id: organizationId, handover_id: handoverId, at }),

    acceptHandover: ({ userId, organizationId, handoverId, at }: InOrganization & { handoverId: string }) =>
      ask("accept_handover", { user_id: userId, organization_id: organizationId, handover_id: handoverId, at }),

    /** Null before onboarding. */
    readNewOrganization: ({ userId, at }: Person) => ask("read_new_organization", { user_id: userId, at }),

    createOrganization: ({ userId, name, baseCurrency, at }: Person & { name: string; baseCurrency: string }) =>
      ask("create_organization", { user_id: userId, name, base_currency: baseCurrency, at }),
  };
}
