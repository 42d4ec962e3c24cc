/**
 * Calls each function of schema `public` as the first organization's people: about their own data, and about the second
 * organization's. A new function needs an entry in `CALLS`: {@link checkFunctions} fails without one.
 */
import type { Session } from "../../local/database/sql.ts";
import { PARTS } from "../../shared/export/books.ts";
import type { TestDatabase } from "../_support/database.ts";
import { rolledBack } from "../_support/tap.ts";
import { dump, leaksIn, NOW, RESOURCE, type Tenant, type Tenants } from "./tenants.ts";

type Args = Record<string, unknown>;
// deno-lint-ignore no-explicit-any -- answers are inspected field by field
type Json = any;

interface Call {
  args: Args;
  /** Calls that must come first. */
  after?: [name: string, args: Args][];
  /**
   * For a job that processes all organizations: the tables of the second one that it may change, with the names in
   * `dump`.
   */
  touches?: string[];
  /** For a result about everybody: the first organization's part. */
  part?: (answer: Json) => unknown;
}

const at = NOW;
const until = "2027-01-01T00:00:00Z";
const envelope = { key_id: "00000000", alg: "aes-gcm-hkdf", nonce: "AAAAAAAAAAAAAAAA", data: "AA==" };
/** Contains only ids and dates of owners, and only the job sees it. */
const nothing = () => null;
const DIGESTS = ["app.events", "jobs.reminder_digests", "jobs.reminder_log", "jobs.notice_log"];

/** The arguments of each function. Job functions that work for everybody list the tables that they write. */
const CALLS: Record<string, (tenants: Tenants) => Call[]> = {
  accept_handover: (t) =>
    of(t, (one) => ({
      user_id: t.first.viewerId,
      organization_id: one.organizationId,
      handover_id: one.handoverId,
      at,
    })),
  accept_invitation: (t) =>
    of(t, (one) => ({
      token_hash: one.invitationHash,
      user_id: t.first.memberId,
      email: t.first.memberEmail,
      at,
    })),
  allow_subscriptions: (t) =>
    of(t, (one) => ({ user_id: t.first.memberId, grant_id: one.grantId, is_allowed: false, at })),
  change_grant_access: (t) =>
    of(t, (one) => ({ user_id: t.first.memberId, grant_id: one.grantId, access: "read", at })),
  change_member_role: (t) =>
    of(t, (one) => ({
      user_id: t.first.ownerId,
      organization_id: one.organizationId,
      member_id: one.memberId,
      role: "viewer",
      at,
    })),
  create_organization: ({ first }) => [{
    args: { user_id: first.ownerId, name: "Another", base_currency: "EUR", at },
  }],
  end_handover: (t) =>
    of(
      t,
      (one) => ({ user_id: t.first.ownerId, organization_id: one.organizationId, handover_id: one.handoverId, at }),
    ),
  invite_member: (t) =>
    of(t, (one) => ({
      user_id: t.first.ownerId,
      organization_id: one.organizationId,
      address: "new@first.example",
      role: "member",
      token_hash: "06".repeat(32),
      at,
    })),
  open_private: (t) =>
    of(t, (one) => ({
      user_id: t.first.ownerId,
      organization_id: one.organizationId,
      member_id: one.memberId,
      sees_private: true,
      at,
    })),
  claim_event: () => [{ args: { at }, part: nothing }],
  settle_event: () => [{
    args: { subscription_id: "sub_none", place: { at, id: "evt_1" }, is_done: false, at },
  }],
  find_event_subscription: (
    { first },
  ) => [{
    args: { token_hash: first.accessHash, resource: RESOURCE, name: "bill.due", url: "https://app.example/hook", at },
  }],
  drop_event_subscription: (
    { first },
  ) => [{
    args: { token_hash: first.accessHash, resource: RESOURCE, name: "bill.due", url: "https://app.example/hook", at },
  }],
  keep_event_subscription: ({ first }) => [{
    args: {
      token_hash: first.accessHash,
      resource: RESOURCE,
      name: "bill.due",
      url: "https://app.example/hook",
      secret: envelope,
      after: null,
      expires_at: until,
      at,
    },
  }],
  poll_events: ({ first }) => [{
    args: {
      token_hash: first.accessHash,
      resource: RESOURCE,
      name: "bill.due",
      after: { at: "2026-01-01T00:00:00Z", id: "" },
      at_most: 50,
      at,
    },
  }],
  propose_owner: (t) =>
    of(t, (one) => ({
      user_id: t.first.ownerId,
      organization_id: one.organizationId,
      member_id: one.memberId,
      at,
    })),
  read_invitation: (t) =>
    of(t, (one) => ({
      token_hash: one.invitationHash,
      user_id: t.first.memberId,
      email: t.first.memberEmail,
      at,
    })),
  read_members: (t) => of(t, (one) => ({ user_id: t.first.ownerId, organization_id: one.organizationId, at })),
  read_new_organization: ({ first }) => [{ args: { user_id: first.ownerId, at } }],
  read_removal: (t) =>
    of(t, (one) => ({
      user_id: t.first.ownerId,
      organization_id: one.organizationId,
      member_id: one.memberId,
      at,
    })),
  remove_member: (t) =>
    of(t, (one) => ({
      user_id: t.first.ownerId,
      organization_id: one.organizationId,
      member_id: one.memberId,
      at,
    })),
  resend_invitation: (t) =>
    of(t, (one) => ({
      user_id: t.first.ownerId,
      invitation_id: one.invitationId,
      token_hash: "07".repeat(32),
      at,
    })),
  withdraw_invitation: (t) => of(t, (one) => ({ user_id: t.first.ownerId, invitation_id: one.invitationId, at })),
  apply_payment_event: ({ first }) => [{
    args: {
      event: {
        type: "subscription.activated",
        status: "active",
        subscription_id: "sub_new",
        provider_plan_id: "plan_first",
        organization_id: first.organizationId,
        occurred_at: at,
        paid_count: 1,
        auth_attempts: 0,
        rank: 0,
      },
      body_hash: "ab".repeat(32),
      event_id: "event_new",
      at,
    },
  }],
  approve_consent: (t) =>
    of(t, (one) => ({
      consent_id: "00000000-0000-4000-8000-0000000000ff",
      client_id: one.clientId,
      user_id: t.first.ownerId,
      organization_id: one.organizationId,
      at,
    })),
  authenticate_bearer: ({ first }) => [{ args: { token_hash: first.accessHash, resource: RESOURCE, at } }],
  call_tool: ({ first }) => [{
    args: {
      token_hash: first.accessHash,
      resource: RESOURCE,
      tool: "get_context",
      arguments: { include: ["categories", "settings", "payees", "recent_changes", "provider_links", "members"] },
      at,
    },
  }],
  call_long_tool: ({ first }) => [{
    args: { token_hash: first.accessHash, resource: RESOURCE, tool: "get_context", arguments: {}, at },
  }],
  change_calendar: (t) =>
    of(t, (one) => ({ user_id: t.first.memberId, organization_id: one.organizationId, show_amounts: false, at })),
  change_country: ({ first }) => [{ args: { user_id: first.ownerId, country: "FR", at } }],
  change_provider_link: (t) =>
    of(t, (one) => ({ user_id: t.first.ownerId, link_id: one.linkId, action: "remove", at })),
  check_schedule: () => [{ args: { project_url: "https://project.example", cron_secret_hashes: [] }, part: nothing }],
  choose_mails: (t) =>
    of(t, (one) => ({ user_id: t.first.memberId, organization_id: one.organizationId, mails: "all", at })),
  open_review: () => [{ args: { code_hash: "ab".repeat(32), at } }],
  claim_attempt: () => [{ args: { key_hash: "a", at_most: 5, seconds_apart: 60, quotas: [], at } }],
  claim_provider_link: () => [{
    args: { period: "2026-10-01", again: false, before: at, at },
    touches: ["app.provider_links"],
    part: nothing,
  }],
  claim_reminders: ({ first }) => [{
    args: { size: 100, at },
    after: [["collect_reminders", { at }]],
    touches: DIGESTS,
    part: ({ digests }) => {
      const own = digests.filter(({ recipient_id }: Json) => recipient_id === first.ownerId);
      if (own.length !== 1) throw new Error("the first organization has no digest");
      return own;
    },
  }],
  collect_reminders: () => [{ args: { at }, touches: DIGESTS, part: nothing }],
  complete_onboarding: (t) =>
    of(t, () => ({
      user_id: t.first.ownerId,
      email: t.first.ownerEmail,
      country: "DE",
      organization_name: "Another",
      timezone: "UTC",
      base_currency: "EUR",
      reminder_email: t.first.ownerEmail,
      at,
    })),
  delete_account: ({ first }) => [{ args: { user_id: first.memberId, email: first.memberEmail, at } }],
  delete_organization: (t) =>
    of(t, (one) => ({ user_id: t.first.ownerId, organization_id: one.organizationId, name: "Household", at })),
  keep_account: ({ first }) => [{
    args: { user_id: first.memberId, at },
    after: [["delete_account", { user_id: first.memberId, email: first.memberEmail, at }]],
  }],
  keep_organization: (t) => of(t, (one) => ({ user_id: t.first.ownerId, organization_id: one.organizationId, at })),
  confirm_reminder_email: (t) => of(t, (one) => ({ user_id: t.first.ownerId, reminder_email: one.ownerEmail, at })),
  connect_provider: (t) =>
    of(t, (one) => ({
      user_id: t.first.ownerId,
      bill_id: one.openBillId,
      provider_key: "openai",
      provider_name: "OpenAI",
      link_id: "lnk_0000000000ff",
      account_label: "Account",
      envelope,
      at,
    })),
  count_provider_links: () => [{ args: { period: "2026-10-01", again: true, before: at, at }, part: nothing }],
  count_reminder_candidates: () => [{ args: { at } }],
  count_waiting_reminders: () => [{ args: { at } }],
  count_wrong_verifier: ({ first }) => [{
    args: { code_id: first.consentId, code_expires_at: until, client_id: first.clientId, at },
  }],
  create_calendar: (t) =>
    of(t, (one) => ({
      user_id: t.first.memberId,
      organization_id: one.organizationId,
      token_hash: "05".repeat(32),
      at,
    })),
  dismiss_grant_alerts: ({ first }) => [{ args: { user_id: first.memberId, until: at, at } }],
  end_calendar: (t) => of(t, (one) => ({ user_id: t.first.memberId, organization_id: one.organizationId, at })),
  find_client: ({ first }) => [{ args: { client_id: first.clientId, at } }],
  // Contains only days, whichever organization's payments wait for them.
  find_days_to_rate: () => [{ args: { at, size: 60 } }],
  find_rolling_pages: () => [{ args: { at, size: 2000 }, part: nothing }],
  // Ciphertext with its link, which only the job sees.
  find_stale_credentials: () => [{ args: { key_id: "ffffffff", after: "", at_most: 100 }, part: nothing }],
  keep_inbound_mail: ({ first }) => [{
    args: {
      tokens: [first.inboundToken],
      provider_id: "another",
      mail: { sender: first.memberEmail, subject: "a", verdicts: {}, is_proven: true },
      content: "YQ==",
      at,
    },
  }],
  fill_inbound_mail: (t) =>
    of(t, (one) => ({
      mail_id: one.mailId,
      attempt: 0,
      mail: { sender: t.first.memberEmail, subject: "a", verdicts: {}, is_proven: true },
      content: "YQ==",
      at,
    })),
  claim_inbound_mail: () => [{ args: { at }, part: nothing }],
  settle_inbound_mail: (t) =>
    of(t, (one) => ({
      mail_id: one.mailId,
      attempt: 0,
      parts_done: 0,
      outcome: "read",
      documents: [],
      refusals: [],
      at,
    })),
  read_inbound: (t) => of(t, (one) => ({ user_id: t.first.ownerId, organization_id: one.organizationId, at })),
  change_inbound: (t) =>
    ["rotate", "accept", "block", "forget"].flatMap((action) =>
      of(t, (one) => ({
        user_id: t.first.ownerId,
        organization_id: one.organizationId,
        action,
        target: action === "forget" ? "a@sender.example" : one.mailId,
        at,
      }))
    ),
  keep_provider_answer: (t) =>
    of(t, (one) => ({
      link_id: one.linkId,
      lease_token: "00000000-0000-4000-8000-0000000000ff",
      period: "2026-10-01",
      answer: { outcome: "failed", code: "bad_shape" },
      at,
    })),
  list_connected_apps: ({ first }) => [{ args: { user_id: first.memberId, at } }],
  list_grant_alerts: ({ first }) => [{ args: { user_id: first.memberId } }],
  may_sign_up: () => [{ args: { email: "new@first.example", at } }],
  note_sign_in: ({ first }) => [{ args: { user_id: first.ownerId, email: "new@first.example", at } }],
  open_connection: (t) =>
    of(t, (one) => ({ user_id: t.first.ownerId, bill_id: one.openBillId, provider_key: "openai", quotas: [], at })),
  open_consent: ({ first }) => [{ args: { client_id: first.clientId, user_id: first.memberId, at } }],
  open_document_consent: ({ first }) => [{
    args: { client_id: first.clientId, user_id: first.memberId, quotas: [], at },
  }],
  open_export: (t) =>
    of(t, (one) => ({ user_id: t.first.ownerId, organization_id: one.organizationId, wanted: null, at })),
  open_document: (t) =>
    [true, false].flatMap((content) =>
      of(t, (one) => ({ user_id: t.first.memberId, document_id: one.documentId, content, at }))
    ),
  open_upload: (t) => of(t, (one) => ({ user_id: t.first.memberId, import_id: one.importId, at })),
  ping: () => [{ args: {} }],
  read_account: ({ first }) => [{ args: { user_id: first.ownerId, at } }, { args: { user_id: first.memberId, at } }],
  read_deletion: ({ first }) => [first.ownerId, first.memberId].map((user_id) => ({ args: { user_id } })),
  read_calendar: ({ first }) => [{
    args: { token_hash: first.calendarHash, limits: { caller: [] }, at },
    part: (answer) => {
      if (answer.outcome !== "ok" || answer.calendar.dates.length === 0) throw new Error("nothing is due in the first");
      return answer;
    },
  }],
  read_expense_file: (t) =>
    of(t, (one) => ({ user_id: t.first.ownerId, organization_id: one.organizationId, arguments: {}, at })),
  read_export: (t) =>
    PARTS.flatMap((part) =>
      of(t, (one) => ({
        user_id: t.first.ownerId,
        organization_id: one.organizationId,
        part,
        after: null,
        from_on: null,
        to_on: null,
        at,
      }))
    ),
  read_newest_rates: () => [{ args: {} }],
  read_rates_of_day: () => [{ args: { day: "2026-11-19" } }],
  read_onboarding: ({ first }) => [{ args: { user_id: first.ownerId } }],
  read_provider_credentials: ({ first }) => [{ args: { link_ids: [first.linkId, first.brokenLinkId] } }],
  read_unsubscribing: ({ first }) => [
    { args: { user_id: first.ownerId, with_bills: true } },
    { args: { user_id: first.ownerId, with_bills: false } },
    { args: { user_id: first.memberId, with_bills: true } },
  ],
  claim_mails: () => [{ args: { about: null, at_most: 0, at } }],
  change_approval_policy: (t) =>
    of(t, (one) => ({
      user_id: t.first.ownerId,
      organization_id: one.organizationId,
      rules: [{ tool: null, roles: ["member"], over: "5.00", currency: "EUR", over_records: null, approver: "owner" }],
      assistants_may_approve: true,
      at,
    })),
  decide_proposal: (t) =>
    of(t, (one) => ({
      user_id: t.first.ownerId,
      proposal_id: one.proposalId,
      hash: "0",
      decision: "approve",
      at,
    })),
  read_approval_policy: (t) => of(t, (one) => ({ user_id: t.first.ownerId, organization_id: one.organizationId, at })),
  read_activity: (t) =>
    of(t, (one) => ({
      user_id: t.first.ownerId,
      organization_id: one.organizationId,
      filter: {},
      before: null,
      at,
    })),
  read_proposal: (t) => of(t, (one) => ({ user_id: t.first.ownerId, proposal_id: one.proposalId, at })),
  read_books: (t) =>
    of(t, (one) => ({
      user_id: t.first.memberId,
      organization_id: one.organizationId,
      month_on: null,
      searched: null,
      cursor: null,
      paid: null,
      at,
    })),
  pay_due_date: (t) =>
    of(t, (one) => ({
      user_id: t.first.memberId,
      organization_id: one.organizationId,
      bill_id: one.openBillId,
      due_on: "2026-11-30",
      shown: null,
      amount: "1.00",
      idempotency_key: "00000000-0000-4000-8000-000000000001",
      at,
    })),
  read_proposals: (t) => of(t, (one) => ({ user_id: t.first.ownerId, organization_id: one.organizationId, at })),
  settle_mail: () => [{ args: { mail_id: "0", is_sent: true, at } }],
  run_page_tool: (t) =>
    of(t, (one) => ({
      user_id: t.first.memberId,
      organization_id: one.organizationId,
      tool: "import_expenses",
      arguments: { step: "open", import_id: `imp_${one.organizationId.slice(4)}` },
      at: "2026-01-01T00:00:00Z",
    })),
  record_job_run: () => [{
    args: {
      job: "reminders",
      period: "2026-11-20",
      stage: "roll",
      status: "ok",
      counts: {},
      error_code: null,
      started_at: at,
      finished_at: at,
    },
  }],
  record_use: ({ first }) => [{ args: { token_hash: first.accessHash, at } }],
  redeem_authorization_code: (t) =>
    of(t, (one) => ({
      code_id: "00000000-0000-4000-8000-0000000000fe",
      code_expires_at: until,
      client_id: t.first.clientId,
      redirect_uri: "https://client.example/callback",
      user_id: t.first.memberId,
      organization_id: one.organizationId,
      resource: RESOURCE,
      access_token_hash: "01".repeat(32),
      refresh_token_hash: "02".repeat(32),
      at,
    })),
  register_client: () => [{
    args: { client_id: "client_new", client_name: "New", redirect_uris: ["https://new.example/callback"], at },
  }],
  rename_organization: (t) =>
    of(t, (one) => ({ user_id: t.first.ownerId, organization_id: one.organizationId, name: "Renamed", at })),
  replay_parked_events: ({ first }) => [{
    args: { subscription_id: first.subscriptionId, organization_id: first.organizationId, at },
  }],
  // Requires the envelope that it replaces, which nobody else knows.
  reseal_provider_credential: (t) =>
    of(t, (one) => ({ link_id: one.linkId, replaced: { ...envelope, data: "AQ==" }, envelope, at })),
  revoke_grant: (t) => of(t, (one) => ({ user_id: t.first.memberId, grant_id: one.grantId, at })),
  revoke_token: (t) => of(t, (one) => ({ token_hash: one.refreshHash, client_id: t.first.clientId, at })),
  roll_bills: () => [{
    args: { at, page: { from: ["2026-01-01", ""], until: null } },
    touches: ["app.expense_occurrences", "app.expenses", "app.payments", "app.change_sets", "app.change_items"],
    part: nothing,
  }],
  rotate_refresh_token: (t) =>
    of(t, (one) => ({
      token_hash: one.refreshHash,
      client_id: t.first.clientId,
      successor_hash: "03".repeat(32),
      access_token_hash: "04".repeat(32),
      at,
    })),
  settle_day: () => [{ args: { day: "2026-11-18", is_answered: true, at } }],
  settle_reminders: (t) =>
    of(t, (one) => ({
      batch_id: "00000000-0000-4000-8000-000000000003",
      lease_token: "00000000-0000-4000-8000-0000000000ff",
      results: [{ id: one.digestId, outcome: "sent" }],
      is_last: true,
      retry_at: at,
      at,
    })),
  settle_values: () => [{ args: { after: null, size: 500 } }],
  store_client_document: ({ first }) => [{
    args: {
      client_id: "https://app.example/client.json",
      client_name: "App",
      redirect_uris: ["https://app.example/callback"],
      fresh_until: "2026-11-20T11:00:00Z",
      user_id: first.memberId,
      at,
    },
  }],
  store_rates: () => [{
    args: { source: "ecb", published_on: "2026-11-19", per_euro: { USD: 1.1 }, days: {}, at },
  }],
  unsubscribe: (t) => [
    { args: { user_id: t.first.ownerId, scope: "all", at } },
    ...of(t, (one) => ({ user_id: t.first.ownerId, scope: one.organizationId, at })),
    ...of(t, (one) => ({ user_id: t.first.ownerId, scope: one.openBillId, at })),
  ],
  update_reminders: ({ first }) => [{
    args: {
      user_id: first.ownerId,
      reminder_email: "new@first.example",
      timezone: "UTC",
      default_lead_days: 3,
      email_enabled: true,
      at,
    },
  }],
};

/** The same call, about the first organization's data and about the second's. */
const of = ({ first, second }: Tenants, args: (one: Tenant) => Args): Call[] =>
  [first, second].map((one) => ({ args: args(one) }));

/**
 * Makes every call, each on the original rows, and reports leaks and changes of the second organization.
 * @param only functions to call instead of all
 */
export async function checkFunctions(database: TestDatabase, tenants: Tenants, only?: string[]): Promise<string[]> {
  const names = (await database.query<{ name: string }>(
    `select distinct p.proname as name from pg_proc as p where p.pronamespace = 'public'::regnamespace
       and not exists (select from pg_depend as d where d.objid = p.oid and d.deptype = 'e') order by 1`,
  )).map(({ name }) => name);
  const findings = [
    ...names.filter((name) => !(name in CALLS)).map((name) =>
      `public.${name} is not called: add to CALLS in tests/canary/functions.ts how a person of one organization would call it`
    ),
    ...Object.keys(CALLS).filter((name) => !names.includes(name)).map((name) =>
      `public.${name} is gone: take it out of CALLS in tests/canary/functions.ts`
    ),
  ];
  for (const name of names.filter((one) => one in CALLS && (only ?? names).includes(one))) {
    for (const { args, after = [], touches = [], part = (answer: Json) => answer } of CALLS[name]!(tenants)) {
      const what = `public.${name}(${JSON.stringify(args)})`;
      const refused = await rolledBack(database, async (session) => {
        for (const [earlier, its] of after) await call(session, earlier, its);
        const before = await dump(session, tenants, touches);
        const answer = await call(session, name, args);
        const changed = difference(before, await dump(session, tenants, touches));
        const leaks = leaksIn(JSON.stringify(part(answer) ?? null), tenants, JSON.stringify(args));
        if (leaks.length > 0) findings.push(`${what} answers ${leaks.join(", ")}`);
        if (changed.length > 0) findings.push(`${what} changes ${changed.join("\n")}`);
      }).catch((thrown) => `${what} fails: ${thrown.message}`);
      if (refused) findings.push(refused);
    }
  }
  return findings;
}

/** Rows that are in only one of the lists. */
export const difference = (before: string[], after: string[]): string[] => [
  ...before.filter((row) => !after.includes(row)).map((row) => `- ${row}`),
  ...after.filter((row) => !before.includes(row)).map((row) => `+ ${row}`),
];

async function call(session: Session, name: string, args: Args): Promise<Json> {
  const names = Object.keys(args);
  const [types] = await session.query<{ types: Record<string, string> }>(
    `select json_object_agg(u.name, format_type(u.type, null)) as types
     from pg_proc as p, unnest(p.proargnames, p.proargtypes::oid[]) as u (name, type)
     where p.pronamespace = 'public'::regnamespace and p.proname = $1`,
    [name],
  );
  const passed = names.map((one) => `"${one}" => a."${one}"`).join(", ");
  const columns = names.map((one) => `"${one}" ${types!.types[one]}`).join(", ");
  const from = names.length > 0 ? `jsonb_to_record($1::text::jsonb) as a (${columns})` : "(select $1::text) as a";
  await session.exec("set local role service_role");
  const [row] = await session.query<{ answer: Json }>(
    `select to_jsonb(public."${name}"(${passed})) as answer from ${from}`,
    [
      JSON.stringify(args),
    ],
  );
  await session.exec("reset role");
  return row!.answer;
}
