/** Database calls of the identity pages: one per page view or change. */
import type { Role } from "../roles.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";
import type { Limited, Quota } from "./quota.ts";

export interface Onboarding {
  country: string;
  organization_name: string;
  timezone: string;
  base_currency: string;
  /** Same as the sign-in address unless set. */
  reminder_email: string;
}

/** Which bills a person gets mails of: theirs (all for the owner, else those assigned to them), all, or none. */
export type Mails = "mine" | "all" | "none";

export interface AccountOrganization {
  id: string;
  name: string;
  role: Role;
  /** What the role may do beyond reading. */
  rights: Right[];
  /** Whom to ask for what the role may not do. */
  owner_email: string;
  /** While it is being deleted: when that is final. */
  deletes_at: string | null;
  base_currency: string;
  mails: Mails;
  plan: Plan;
  plan_status: "active" | "past_due" | "canceled";
  /** The plan whose features currently apply. */
  effective_plan: Plan;
  trial_ends_at: string | null;
  /** Whether the trial is running: until it ends, all Team features apply, whatever the subscription. */
  is_trial: boolean;
  /** When the grace period of a past-due plan ends. */
  grace_ends_at: string | null;
  /** The plan of another, past-due subscription that still applies because it includes more or lasts longer. */
  second_plan: Plan | null;
  second_grace_ends_at: string | null;
  /** Until when it is paid for, or was, if the plan has ended. Null without a subscription. */
  period_ends_at: string | null;
  /** Features that the current plan does not include. */
  features_off: Feature[];
  /** Proposals that the reader can decide. */
  proposals_waiting: number;
  /** The reader's own; its address is not kept. Null when there is none. */
  calendar: { show_amounts: boolean; created_at: string } | null;
}
export type Right =
  | "books:write"
  | "books:private"
  | "books:export"
  | "settings:write"
  | "members:manage"
  | "providers:manage"
  | "plan:manage"
  | "organization:manage";
export type Feature = "ai:connector" | "reminders:email" | "bills:variable";
export type Plan = "free" | "pro" | "team";

export interface ConnectedApp {
  grant_id: string;
  client_id: string;
  client_name: string;
  redirect_uri: string;
  organization_id: string;
  organization_name: string;
  created_at: string;
  last_used_at: string | null;
  /** The latest change that it made and that is still kept. */
  last_change: { tool: string; at: string } | null;
}

/** A connection that was ended because a code or token was used twice, so it may have been stolen. */
export interface GrantAlert {
  grant_id: string;
  client_name: string;
  organization_name: string;
  ended_at: string;
  reason: "code_replayed" | "refresh_token_replayed";
}

export interface AccountProviderLink {
  id: string;
  provider_key: string;
  account_label: string;
  /** `paused_by_plan` resumes automatically with the next payment. */
  status: "pending" | "active" | "needs_reauth" | "paused" | "paused_by_plan";
  bill: string;
  bill_id: string;
  /** Deleted, cancelled or ended: no longer fetched. */
  bill_is_over: boolean;
  /** Amounts are only fetched for variable bills. */
  bill_is_variable: boolean;
  organization: string;
  /** Only owners can change links. */
  role: Role;
  /** First day of the latest month whose amount has arrived. */
  last_success_period: string | null;
}

export interface Account {
  profile: {
    email: string;
    /** ISO 3166-1 alpha-2. */
    country: string;
    timezone: string;
    email_enabled: boolean;
    default_lead_days: number;
    reminder_email: string | null;
    reminder_email_confirmed: boolean;
    /** An address that permanently rejected our mail; cleared when the settings are saved. */
    refused_email: string | null;
    /** While the account is being deleted: when that is final. */
    deletes_at: string | null;
  };
  organizations: AccountOrganization[];
  /** Off unless the operator sells plans: then everybody has everything. */
  plans_enabled: boolean;
  /** What the plans include; a plan that includes nothing is absent. */
  plan_features: Partial<Record<Plan, Feature[]>>;
  /** What a person has done at least once. */
  first_steps: { app: boolean; expense: boolean; bill: boolean };
  connected_apps: ConnectedApp[];
  grant_alerts: GrantAlert[];
  provider_links: AccountProviderLink[];
  /** Their variable bills without a provider, newest only. */
  connectable_bills: { id: string; name: string; organization: string }[];
}

/** What a person can unsubscribe from in a reminder mail. */
export interface Unsubscribable {
  email_enabled: boolean;
  organizations: {
    id: string;
    name: string;
    mails: Mails;
    /** The bills with reminders that they own, if requested. */
    bills?: { id: string; name: string }[];
  }[];
}

export interface Reminders {
  reminder_email: string;
  timezone: string;
  default_lead_days: number;
  email_enabled: boolean;
}

/** A part of a file of expenses, as list_expenses answers it. */
export interface ExpenseFilePart {
  ok: boolean;
  data: { csv: Record<string, unknown>[] };
  next_cursor?: string;
}

type Invalid = { outcome: "invalid"; field: "timezone" | "base_currency" };
type Person = { userId: string; at: Date };

export type IdentityStore = ReturnType<typeof createIdentityStore>;

/** Every method throws what `Database.call` throws. */
export function createIdentityStore(database: Database) {
  const ask = asking(database);
  return {
    /**
     * Counts one attempt within the last hour under a keyed hash, after drawing on the caller's quotas. Refused
     * attempts are not counted.
     */
    claimAttempt: (
      attempt: { keyHash: string; atMost: number; secondsApart: number; quotas: readonly Quota[]; at: Date },
    ) =>
      ask<{ outcome: "allowed" } | Limited>("claim_attempt", {
        key_hash: attempt.keyHash,
        at_most: attempt.atMost,
        seconds_apart: attempt.secondsApart,
        quotas: attempt.quotas,
        at: attempt.at,
      }),

    /**
     * Stores the address the identity provider has now, and returns whether the person has been through onboarding, and
     * whether their account is being deleted.
     */
    noteSignIn: ({ userId, email, at }: Person & { email: string }) =>
      database.call<{ onboarded: boolean; leaving?: true }>("note_sign_in", { user_id: userId, email, at }),

    /** A part of a file of expenses, read as the person; `refused` when they may not any more. */
    readExpenseFile: (
      { userId, organizationId, filter, cursor, at }: Person & {
        organizationId: string;
        filter: Record<string, unknown>;
        cursor?: string;
      },
    ) =>
      ask<{ outcome: "ok"; result: ExpenseFilePart } | { outcome: "refused" }>("read_expense_file", {
        user_id: userId,
        organization_id: organizationId,
        arguments: { ...filter, ...(cursor && { cursor }) },
        at,
      }),

    readOnboarding: (userId: string) =>
      database.call<{ onboarded: boolean; currencies: string[] }>("read_onboarding", { user_id: userId }),

    /** Without `organization_name` no organization is created: they join another's. */
    completeOnboarding: (
      { userId, email, at, ...values }: Omit<Onboarding, "organization_name"> & Person & {
        email: string;
        organization_name: string | null;
      },
    ) =>
      ask<{ outcome: "created"; organization_id: string | null } | { outcome: "already" | "leaving" } | Invalid>(
        "complete_onboarding",
        { user_id: userId, email, ...values, at },
      ),

    /** Null before onboarding. */
    readAccount: ({ userId, at }: Person) => database.call<Account | null>("read_account", { user_id: userId, at }),

    changeCountry: ({ userId, country, at }: Person & { country: string }) =>
      ask<{ outcome: "changed" | "unknown" }>("change_country", { user_id: userId, country, at }),

    renameOrganization: ({ userId, organizationId, name, at }: Person & { organizationId: string; name: string }) =>
      ask<{ outcome: "renamed" | "not_owner" }>("rename_organization", {
        user_id: userId,
        organization_id: organizationId,
        name,
        at,
      }),

    revokeGrant: ({ userId, grantId, at }: Person & { grantId: string }) =>
      ask<{ outcome: "revoked" | "unknown_grant" }>("revoke_grant", {
        user_id: userId,
        grant_id: grantId,
        at,
      }),

    /** Hides alerts of grants that ended up to that instant. */
    dismissGrantAlerts: ({ userId, until, at }: Person & { until: Date }) =>
      ask<{ outcome: "dismissed" }>("dismiss_grant_alerts", { user_id: userId, until, at }),

    /** `unconfirmed` is the new reminder address when it has to be confirmed before use. */
    updateReminders: ({ userId, at, ...values }: Reminders & Person) =>
      ask<{ outcome: "updated"; unconfirmed: string | null } | { outcome: "unknown" } | Invalid>(
        "update_reminders",
        { user_id: userId, ...values, at },
      ),

    confirmReminderEmail: ({ userId, reminderEmail, at }: Person & { reminderEmail: string }) =>
      ask<{ outcome: "confirmed" | "stale" }>("confirm_reminder_email", {
        user_id: userId,
        reminder_email: reminderEmail,
        at,
      }),

    /** Null when the person does not exist. @param asked.withBills only for that person, signed in. */
    readUnsubscribing: ({ userId, withBills }: { userId: string; withBills: boolean }) =>
      database.call<Unsubscribable | null>("read_unsubscribing", { user_id: userId, with_bills: withBills }),

    /** @param asked.scope `all`, or the id of an organization or bill of theirs. */
    unsubscribe: ({ userId, scope, at }: Person & { scope: string }) =>
      ask<{ outcome: "unsubscribed" | "unknown" }>("unsubscribe", { user_id: userId, scope, at }),

    chooseMails: ({ userId, organizationId, mails, at }: Person & { organizationId: string; mails: Mails }) =>
      ask<{ outcome: "chosen" | "not_member" }>("choose_mails", {
        user_id: userId,
        organization_id: organizationId,
        mails,
        at,
      }),
  };
}
