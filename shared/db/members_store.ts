/** Database calls of the pages about members, invitations and further organizations: one per page view or change. */
import type { Proposal } from "../approvals/proposal.ts";
import type { OwnBalance } from "../mail/claimed_mail.ts";
import type { OrganizationState } from "../organization_state.ts";
import type { Role } from "../roles.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";

/** What somebody can be invited as, or made. */
export type GivenRole = Exclude<Role, "owner">;

export interface Member {
  user_id: string;
  email: string;
  role: Role;
  /** Whether the owner opened private categories to this viewer. */
  sees_private: boolean;
  /** Whether the reader may change their role or remove them. */
  may_change: boolean;
}

export interface OpenInvitation {
  id: string;
  address: string;
  role: GivenRole;
  expires_at: string;
  is_expired: boolean;
  may_change: boolean;
}

/** The members of an organization as one of them sees them. */
export interface Members {
  id: string;
  name: string;
  /** The reader's. */
  role: Role;
  may_manage: boolean;
  state: OrganizationState;
  /** Whether the plan lets further people join. */
  may_grow: boolean;
  country: string;
  members: Member[];
  /** Empty without the right to invite. */
  invitations: OpenInvitation[];
  /** One that the reader has to confirm, or proposed. */
  handover: { id: string; from: string; to: string; to_me: boolean; expires_at: string } | null;
}

/** What removing a member ends (counts), and what stays. */
export interface Removal {
  organization_name: string;
  email: string;
  /** The reader's. */
  country: string;
  timezone: string;
  /** What they owe and are owed for shared costs, which stays. */
  balances: OwnBalance[];
  /** Their proposals that wait for approval, which are withdrawn. */
  waiting: (Pick<Proposal, "id" | "tool" | "facts" | "effects" | "effects_count" | "created_at">)[];
  /** Bills and expenses assigned to them. */
  assigned: number;
  apps: number;
  has_calendar: boolean;
  /** Their imports that were not added to the books yet. */
  imports: number;
  /** The organization's provider connections, which stay. */
  links: number;
  /** Fetched amounts that wait for somebody's decision, which stay. */
  proposals: number;
  /** Their open invitations. */
  invitations: number;
}

/**
 * Why an invitation cannot be accepted; `leaving`: their account is being deleted, `plan`: the organization's no longer
 * includes further members.
 */
export type InvitationEnd = "already_member" | "leaving" | "used" | "withdrawn" | "expired" | "plan";

export interface ShownInvitation {
  outcome: "open" | InvitationEnd;
  organization_id: string;
  organization_name: string;
  inviter: string;
  role: GivenRole;
  expires_at: string;
  /** Whether the reader has been through onboarding. */
  onboarded: boolean;
}

type Person = { userId: string; at: Date };
type InOrganization = Person & { organizationId: string };
type OfMember = InOrganization & { memberId: string };
/** @param tokenHash SHA-256, hexadecimal. */
type WithLink = { tokenHash: string };

export type MembersStore = ReturnType<typeof createMembersStore>;

/** Every method throws what `Database.call` throws. */
export function createMembersStore(database: Database) {
  const ask = asking(database);
  const ofMember = ({ userId, organizationId, memberId, at }: OfMember) => ({
    user_id: userId,
    organization_id: organizationId,
    member_id: memberId,
    at,
  });
  return {
    /** Null without a membership. */
    read: ({ userId, organizationId, at }: InOrganization) =>
      database.call<Members | null>("read_members", { user_id: userId, organization_id: organizationId, at }),

    /** Again for the same address, the link before stops working. */
    invite: (asked: InOrganization & WithLink & { address: string; role: GivenRole }) =>
      ask<
        | { outcome: "invited"; organization_name: string }
        | { outcome: "not_allowed" | "plan" | "already_member" }
        | { outcome: "too_many"; most: number }
      >("invite_member", {
        user_id: asked.userId,
        organization_id: asked.organizationId,
        address: asked.address,
        role: asked.role,
        token_hash: asked.tokenHash,
        at: asked.at,
      }),

    resend: ({ userId, invitationId, tokenHash, at }: Person & WithLink & { invitationId: string }) =>
      ask<
        | { outcome: "invited"; address: string; role: GivenRole; organization_name: string }
        | { outcome: "unknown" | "not_allowed" | "plan" }
      >("resend_invitation", { user_id: userId, invitation_id: invitationId, token_hash: tokenHash, at }),

    withdraw: ({ userId, invitationId, at }: Person & { invitationId: string }) =>
      ask<{ outcome: "withdrawn" | "unknown" | "not_allowed" }>("withdraw_invitation", {
        user_id: userId,
        invitation_id: invitationId,
        at,
      }),

    /** @param asked.email the address they signed in with. */
    readInvitation: ({ userId, email, tokenHash, at }: Person & WithLink & { email: string }) =>
      ask<ShownInvitation | { outcome: "for_another"; masked_address: string } | { outcome: "unknown" }>(
        "read_invitation",
        { token_hash: tokenHash, user_id: userId, email, at },
      ),

    accept: ({ userId, email, tokenHash, at }: Person & WithLink & { email: string }) =>
      ask<
        | { outcome: "accepted" | InvitationEnd; organization_id: string }
        | { outcome: "unknown" | "for_another" | "not_onboarded" }
      >("accept_invitation", { token_hash: tokenHash, user_id: userId, email, at }),

    changeRole: (asked: OfMember & { role: GivenRole }) =>
      ask<{ outcome: "changed" | "not_allowed" | "unknown" }>("change_member_role", {
        ...ofMember(asked),
        role: asked.role,
      }),

    openPrivate: (asked: OfMember & { seesPrivate: boolean }) =>
      ask<{ outcome: "changed" | "unknown" }>("open_private", {
        ...ofMember(asked),
        sees_private: asked.seesPrivate,
      }),

    /** Null when they may not remove that member. */
    readRemoval: (asked: OfMember) => database.call<Removal | null>("read_removal", ofMember(asked)),

    /** Also for leaving. */
    remove: (asked: OfMember) => ask<{ outcome: "removed" | "unknown" }>("remove_member", ofMember(asked)),

    proposeOwner: (asked: OfMember) =>
      ask<{ outcome: "proposed"; address: string; organization_name: string } | { outcome: "unknown" }>(
        "propose_owner",
        ofMember(asked),
      ),

    /** Withdraws or declines. */
    endHandover: ({ userId, organizationId, handoverId, at }: InOrganization & { handoverId: string }) =>
      ask<{ outcome: "ended" | "unknown" }>("end_handover", {
        user_id: userId,
        organization_id: organizationId,
        handover_id: handoverId,
        at,
      }),

    acceptHandover: ({ userId, organizationId, handoverId, at }: InOrganization & { handoverId: string }) =>
      ask<{ outcome: "accepted" | "unknown" }>("accept_handover", {
        user_id: userId,
        organization_id: organizationId,
        handover_id: handoverId,
        at,
      }),

    /** Null before onboarding. */
    readNewOrganization: ({ userId, at }: Person) =>
      database.call<{ country: string; gets_trial: boolean | null; currencies: string[] } | null>(
        "read_new_organization",
        {
          user_id: userId,
          at,
        },
      ),

    createOrganization: ({ userId, name, baseCurrency, at }: Person & { name: string; baseCurrency: string }) =>
      ask<
        | { outcome: "created"; organization_id: string }
        | { outcome: "invalid"; field: "base_currency" }
        | { outcome: "too_many"; most: number }
        | { outcome: "unknown" | "leaving" }
      >("create_organization", { user_id: userId, name, base_currency: baseCurrency, at }),
  };
}
