/** Database calls of the identity pages: one per page view or change. */
import * as z from "zod/mini";
import { either, outcome } from "../outcome.ts";
import { ExpenseLine } from "../export/expense_file.ts";
import type { Access } from "../oauth/access.ts";
import { Role } from "../roles.ts";
import { asking } from "./answer.ts";
import { ConnectedApp } from "./connected_app.ts";
import type { Database } from "./client.ts";
import { Limited, type Quota } from "./quota.ts";

export interface Onboarding {
  country: string;
  organization_name: string;
  timezone: string;
  base_currency: string;
  /** Same as the sign-in address unless set. */
  reminder_email: string;
}

/** The bills about which a person gets mail: theirs (all for the owner, assigned ones for others), all, or none. */
export const Mails = z.enum(["mine", "all", "none"]);
export type Mails = z.infer<typeof Mails>;

export const Right = z.enum([
  "books:write",
  "books:private",
  "books:export",
  "settings:write",
  "members:manage",
  "providers:manage",
  "plan:manage",
  "organization:manage",
  "approvals:decide",
  "approvals:manage",
]);

export const Plan = z.enum(["free", "pro", "team"]);
export type Plan = z.infer<typeof Plan>;

export const Feature = z.enum(["ai:connector", "reminders:email", "bills:variable"]);

export const AccountOrganization = z.object({
  id: z.string(),
  name: z.string(),
  role: Role,
  /** The role's rights beyond reading. */
  rights: z.array(Right),
  /** The members to ask if the role lacks a right. */
  owner_email: z.string(),
  /** While it is being deleted: the time when the deletion becomes final. */
  deletes_at: z.nullable(z.string()),
  base_currency: z.string(),
  mails: Mails,
  plan: Plan,
  plan_status: z.enum(["active", "past_due", "canceled"]),
  /** The plan whose features currently apply. */
  effective_plan: Plan,
  trial_ends_at: z.nullable(z.string()),
  /** Whether the trial is running. Until it ends, all Team features apply, whatever the subscription. */
  is_trial: z.boolean(),
  /** When the grace period of a past-due plan ends. */
  grace_ends_at: z.nullable(z.string()),
  /** The plan of another, past-due subscription that still applies because it includes more or lasts longer. */
  second_plan: z.nullable(Plan),
  second_grace_ends_at: z.nullable(z.string()),
  /** The end of the paid period, in the past if the plan has ended. Null without a subscription. */
  period_ends_at: z.nullable(z.string()),
  /** Features that the current plan does not include. */
  features_off: z.array(Feature),
  proposals_waiting: z.number(),
  /** The reader's own calendar, without its address. Null when there is none. */
  calendar: z.nullable(z.object({ show_amounts: z.boolean(), created_at: z.string() })),
});
export type AccountOrganization = z.infer<typeof AccountOrganization>;

/** A connection that ended because a code or token was used twice, so it may have been stolen. */
export const GrantAlert = z.object({
  grant_id: z.string(),
  client_name: z.string(),
  organization_name: z.string(),
  ended_at: z.string(),
  reason: z.enum(["code_replayed", "refresh_token_replayed"]),
});
export type GrantAlert = z.infer<typeof GrantAlert>;

export const AccountProviderLink = z.object({
  id: z.string(),
  provider_key: z.string(),
  account_label: z.string(),
  /** `paused_by_plan` resumes automatically with the next payment. */
  status: z.enum(["pending", "active", "needs_reauth", "paused", "paused_by_plan"]),
  bill: z.string(),
  bill_id: z.string(),
  /** Deleted, cancelled or ended, so the job no longer fetches it. */
  bill_is_over: z.boolean(),
  /** The job fetches amounts only for variable bills. */
  bill_is_variable: z.boolean(),
  organization: z.string(),
  /** Absent in the previous version's database. */
  organization_id: z.optional(z.string()),
  /** Only owners can change links. */
  role: Role,
  /** First day of the latest month whose amount has arrived. */
  last_success_period: z.nullable(z.string()),
});
export type AccountProviderLink = z.infer<typeof AccountProviderLink>;

export const Account = z.object({
  profile: z.object({
    email: z.string(),
    /** ISO 3166-1 alpha-2. */
    country: z.string(),
    timezone: z.string(),
    email_enabled: z.boolean(),
    default_lead_days: z.number(),
    reminder_email: z.nullable(z.string()),
    reminder_email_confirmed: z.boolean(),
    /** An address that permanently rejected our mail; cleared when the settings are saved. */
    refused_email: z.nullable(z.string()),
    /** While the account is being deleted: the time when the deletion becomes final. */
    deletes_at: z.nullable(z.string()),
  }),
  organizations: z.array(AccountOrganization),
  /** Off unless the operator sells plans; then everybody has all features. */
  plans_enabled: z.boolean(),
  /** The features of each plan; a plan without features is absent. */
  plan_features: z.partialRecord(Plan, z.array(Feature)),
  /** Steps that a person has completed at least once. */
  first_steps: z.object({ app: z.boolean(), expense: z.boolean(), bill: z.boolean() }),
  connected_apps: z.array(ConnectedApp),
  grant_alerts: z.array(GrantAlert),
  provider_links: z.array(AccountProviderLink),
  /** Their variable bills without a provider, newest only. */
  connectable_bills: z.array(z.object({ id: z.string(), name: z.string(), organization: z.string() })),
});
export type Account = z.infer<typeof Account>;

export const Unsubscribable = z.object({
  email_enabled: z.boolean(),
  organizations: z.array(z.object({
    id: z.string(),
    name: z.string(),
    mails: Mails,
    /** The bills with reminders in organizations that they own, if requested. */
    bills: z.optional(z.array(z.object({ id: z.string(), name: z.string() }))),
  })),
});
export type Unsubscribable = z.infer<typeof Unsubscribable>;

export interface Reminders {
  reminder_email: string;
  timezone: string;
  default_lead_days: number;
  email_enabled: boolean;
}

/** A part of a file of expenses, in the form of list_expenses. */
export const ExpenseFilePart = z.object({
  ok: z.boolean(),
  data: z.object({ csv: z.array(ExpenseLine) }),
  next_cursor: z.optional(z.string()),
});
export type ExpenseFilePart = z.infer<typeof ExpenseFilePart>;

const Invalid = outcome(["invalid"], { field: z.enum(["timezone", "base_currency"]) });

type Person = { userId: string; at: Date };

export type IdentityStore = ReturnType<typeof createIdentityStore>;

export const ANSWERS = {
  claim_attempt: either(outcome(["allowed"]), Limited),
  may_sign_up: z.object({ may: z.boolean() }),
  note_sign_in: z.object({ onboarded: z.boolean(), leaving: z.optional(z.literal(true)) }),
  read_expense_file: either(outcome(["ok"], { result: ExpenseFilePart }), outcome(["refused"])),
  read_onboarding: z.object({ onboarded: z.boolean(), currencies: z.array(z.string()) }),
  complete_onboarding: either(
    outcome(["created"], { organization_id: z.nullable(z.string()) }),
    outcome(["already", "leaving"]),
    Invalid,
  ),
  read_account: z.nullable(Account),
  change_country: outcome(["changed", "unknown"]),
  rename_organization: outcome(["renamed", "not_owner"]),
  revoke_grant: outcome(["revoked", "unknown_grant"]),
  change_grant_access: outcome(["changed", "unknown_grant"]),
  allow_subscriptions: outcome(["changed", "unknown_grant"]),
  dismiss_grant_alerts: outcome(["dismissed"]),
  update_reminders: either(
    outcome(["updated"], { unconfirmed: z.nullable(z.string()) }),
    outcome(["unknown"]),
    Invalid,
  ),
  confirm_reminder_email: outcome(["confirmed", "stale"]),
  read_unsubscribing: z.nullable(Unsubscribable),
  unsubscribe: outcome(["unsubscribed", "unknown"]),
  choose_mails: outcome(["chosen", "not_member"]),
  open_review: either(outcome(["open"], { user_id: z.string(), email: z.string() }), outcome(["unknown"])),
};

/** Every method throws what `Database.call` throws. */
export function createIdentityStore(database: Database) {
  const ask = asking(database, ANSWERS);
  return {
    /**
     * Counts one attempt within the last hour under a keyed hash, after drawing on the caller's quotas. Refused
     * attempts do not count.
     */
    claimAttempt: (
      attempt: { keyHash: string; atMost: number; secondsApart: number; quotas: readonly Quota[]; at: Date },
    ) =>
      ask("claim_attempt", {
        key_hash: attempt.keyHash,
        at_most: attempt.atMost,
        seconds_apart: attempt.secondsApart,
        quotas: attempt.quotas,
        at: attempt.at,
      }),

    /** The person that a reviewer's code signs in. */
    openReview: ({ codeHash, at }: { codeHash: string; at: Date }) => ask("open_review", { code_hash: codeHash, at }),

    /** Whether an address has an open invitation or a member's account, or no organization exists yet. */
    maySignUp: ({ email, at }: { email: string; at: Date }) => ask("may_sign_up", { email, at }),

    /**
     * Stores the identity provider's current address, and returns whether the person has completed onboarding and
     * whether their account is being deleted.
     */
    noteSignIn: ({ userId, email, at }: Person & { email: string }) =>
      ask("note_sign_in", { user_id: userId, email, at }),

    /** A part of a file of expenses, with the person's rights; `refused` when they have lost access. */
    readExpenseFile: (
      { userId, organizationId, filter, cursor, at }: Person & {
        organizationId: string;
        filter: Record<string, unknown>;
        cursor?: string;
      },
    ) =>
      ask("read_expense_file", {
        user_id: userId,
        organization_id: organizationId,
        arguments: { ...filter, ...(cursor && { cursor }) },
        at,
      }),

    readOnboarding: (userId: string) => ask("read_onboarding", { user_id: userId }),

    /** Without `organization_name` it creates no organization: the person joins an existing one. */
    completeOnboarding: (
      { userId, email, at, ...values }: Omit<Onboarding, "organization_name"> & Person & {
        email: string;
        organization_name: string | null;
      },
    ) => ask("complete_onboarding", { user_id: userId, email, ...values, at }),

    /** Null before onboarding. */
    readAccount: ({ userId, at }: Person) => ask("read_account", { user_id: userId, at }),

    changeCountry: ({ userId, country, at }: Person & { country: string }) =>
      ask("change_country", { user_id: userId, country, at }),

    renameOrganization: ({ userId, organizationId, name, at }: Person & { organizationId: string; name: string }) =>
      ask("rename_organization", { user_id: userId, organization_id: organizationId, name, at }),

    revokeGrant: ({ userId, grantId, at }: Person & { grantId: string }) =>
      ask("revoke_grant", { user_id: userId, grant_id: grantId, at }),

    changeGrantAccess: ({ userId, grantId, access, at }: Person & { grantId: string; access: Access }) =>
      ask("change_grant_access", { user_id: userId, grant_id: grantId, access, at }),

    /** Ends an app's subscriptions and refuses new ones, or allows them again. */
    allowSubscriptions: ({ userId, grantId, isAllowed, at }: Person & { grantId: string; isAllowed: boolean }) =>
      ask("allow_subscriptions", { user_id: userId, grant_id: grantId, is_allowed: isAllowed, at }),

    /** Hides alerts of grants that ended up to that instant. */
    dismissGrantAlerts: ({ userId, until, at }: Person & { until: Date }) =>
      ask("dismiss_grant_alerts", { user_id: userId, until, at }),

    /** `unconfirmed`: the new reminder address, if it still needs confirmation. */
    updateReminders: ({ userId, at, ...values }: Reminders & Person) =>
      ask("update_reminders", { user_id: userId, ...values, at }),

    confirmReminderEmail: ({ userId, reminderEmail, at }: Person & { reminderEmail: string }) =>
      ask("confirm_reminder_email", { user_id: userId, reminder_email: reminderEmail, at }),

    /** Null when the person does not exist. @param asked.withBills allowed only if that person is signed in. */
    readUnsubscribing: ({ userId, withBills }: { userId: string; withBills: boolean }) =>
      ask("read_unsubscribing", { user_id: userId, with_bills: withBills }),

    /** @param asked.scope `all`, or the id of the person's organization or bill. */
    unsubscribe: ({ userId, scope, at }: Person & { scope: string }) =>
      ask("unsubscribe", { user_id: userId, scope, at }),

    chooseMails: ({ userId, organizationId, mails, at }: Person & { organizationId: string; mails: Mails }) =>
      ask("choose_mails", { user_id: userId, organization_id: organizationId, mails, at }),
  };
}
