/** The account page: new, used, after its trial, with awkward names; and its confirmation pages. */
import type { ConnectedApp } from "../../../shared/db/connected_app.ts";
import type { Account } from "../../../shared/db/identity_store.ts";
import type { Deletion } from "../../../shared/db/deletion_store.ts";
import { confirmationUrl } from "../../../functions/auth-callback/account/address/addresses.ts";
import type { Config } from "../../../shared/config.ts";
import { NOW, signIn } from "../../functions/auth-callback/harness.ts";
import {
  DELETING,
  EMAIL,
  HOSTILE,
  LONG,
  LONG_ADDRESS,
  page,
  RIGHT_TO_LEFT,
  signedIn,
  type State,
  UNBROKEN,
} from "./state.ts";

const profile: Account["profile"] = {
  email: EMAIL,
  country: "DE",
  timezone: "Europe/Berlin",
  email_enabled: true,
  default_lead_days: 3,
  reminder_email: null,
  reminder_email_confirmed: false,
  refused_email: null,
  deletes_at: null,
};
export const home: Account["organizations"][number] = {
  id: "org_home00000000",
  name: "Home",
  role: "owner",
  rights: [
    "books:export",
    "books:private",
    "books:write",
    "members:manage",
    "organization:manage",
    "plan:manage",
    "providers:manage",
    "settings:write",
  ],
  owner_email: EMAIL,
  deletes_at: null,
  base_currency: "EUR",
  mails: "mine",
  plan: "free",
  plan_status: "active",
  effective_plan: "team",
  trial_ends_at: "2026-12-04T10:00:00Z",
  is_trial: true,
  grace_ends_at: null,
  second_plan: null,
  second_grace_ends_at: null,
  period_ends_at: null,
  features_off: [],
  proposals_waiting: 0,
  calendar: null,
};
const calendar = { show_amounts: false, created_at: "2026-11-02T10:00:00Z" };
const claude: ConnectedApp = {
  grant_id: "7d1d2c7a-0d53-4d3f-9a53-111111111111",
  client_id: "https://claude.ai/oauth/mcp-oauth-client-metadata",
  client_name: "Claude",
  redirect_uri: "https://claude.ai/api/mcp/auth_callback",
  organization_id: home.id,
  organization_name: "Home",
  created_at: "2026-10-03T09:00:00Z",
  last_used_at: "2026-11-19T09:00:00Z",
  access: "write",
  role_writes: true,
  last_change: { tool: "mark_bill_paid", at: "2026-11-18T17:20:00Z" },
  may_subscribe: true,
  subscriptions: [],
};
const subscription = {
  url: "https://hooks.openai.example/events/7d1d2c7a",
  name: "bill.due",
  expires_at: "2026-11-23T09:00:00Z",
};
const always: Pick<Account, "plans_enabled" | "plan_features" | "first_steps"> = {
  plans_enabled: true,
  plan_features: {
    pro: ["ai:connector", "reminders:email"],
    team: ["ai:connector", "bills:variable", "reminders:email"],
  },
  first_steps: { app: true, expense: true, bill: true },
};
const openaiLink: Account["provider_links"][number] = {
  id: "lnk_1",
  provider_key: "openai",
  account_label: "Organization …3f9a",
  status: "active",
  bill: "OpenAI usage",
  bill_id: "bill_000000000001",
  bill_is_over: false,
  bill_is_variable: true,
  organization: "Home",
  organization_id: home.id,
  role: "owner",
  last_success_period: "2026-10-01",
};
const ACCOUNTS: Record<string, Account> = {
  "new": {
    ...always,
    first_steps: { app: false, expense: true, bill: false },
    profile,
    organizations: [home],
    connected_apps: [],
    grant_alerts: [],
    provider_links: [],
    connectable_bills: [],
  },
  "used": {
    ...always,
    profile: { ...profile, reminder_email: "bills@example.com" },
    organizations: [home, {
      ...home,
      id: "org_work00000000",
      name: "Workshop",
      role: "member",
      rights: ["books:write"],
      owner_email: "noor@example.com",
      plan: "pro",
      effective_plan: "pro",
      trial_ends_at: null,
      is_trial: false,
      period_ends_at: "2026-12-31T00:00:00Z",
      features_off: ["bills:variable"],
      calendar: { ...calendar, show_amounts: true },
    }],
    connected_apps: [
      {
        ...claude,
        subscriptions: [
          subscription,
          { ...subscription, name: "budget.reached_80" },
          { ...subscription, url: "https://backup.example/events", name: "digest.sent" },
        ],
      },
      {
        ...claude,
        grant_id: "7d1d2c7a-0d53-4d3f-9a53-222222222222",
        client_id: "client_b",
        client_name: "Claude Code",
        redirect_uri: "http://127.0.0.1:33418/callback",
        last_used_at: null,
        last_change: null,
        may_subscribe: false,
      },
      {
        ...claude,
        grant_id: "7d1d2c7a-0d53-4d3f-9a53-333333333333",
        client_id: "client_c",
        client_name: "Cursor",
        redirect_uri: "cursor://anysphere.cursor-mcp/oauth/callback",
      },
    ],
    grant_alerts: [{
      grant_id: "7d1d2c7a-0d53-4d3f-9a53-555555555555",
      client_name: "Claude Code",
      organization_name: "Home",
      ended_at: "2026-11-18T09:00:00Z",
      reason: "refresh_token_replayed",
    }],
    provider_links: [
      openaiLink,
      {
        ...openaiLink,
        id: "lnk_2",
        provider_key: "github",
        account_label: "acme …77aa",
        status: "needs_reauth",
        bill: "GitHub",
        last_success_period: null,
      },
      { ...openaiLink, id: "lnk_3", provider_key: "vercel", status: "paused", bill: "Vercel" },
      { ...openaiLink, id: "lnk_4", provider_key: "digitalocean", status: "paused_by_plan", bill: "Droplets" },
      { ...openaiLink, id: "lnk_5", bill: "The old experiment", bill_is_over: true },
      {
        ...openaiLink,
        id: "lnk_6",
        provider_key: "anthropic",
        status: "needs_reauth",
        bill: "Claude API",
        organization: "Workshop",
        role: "member",
      },
    ],
    connectable_bills: [{ id: "bill_000000000009", name: "Electricity", organization: "Home" }],
  },
  "over": {
    ...always,
    profile,
    organizations: [{
      ...home,
      effective_plan: "free",
      trial_ends_at: "2026-11-14T10:00:00Z",
      is_trial: false,
      features_off: ["ai:connector", "bills:variable", "reminders:email"],
      calendar,
    }],
    connected_apps: [claude],
    grant_alerts: [],
    provider_links: [],
    connectable_bills: [],
  },
  "awkward": {
    ...always,
    profile: { ...profile, reminder_email: `${"very.long.address.".repeat(3)}@${"subdomain.".repeat(12)}example.com` },
    organizations: [
      { ...home, name: LONG, proposals_waiting: 2 },
      {
        ...home,
        id: "org_2",
        name: HOSTILE,
        plan: "team",
        plan_status: "past_due",
        trial_ends_at: null,
        is_trial: false,
        grace_ends_at: "2026-11-25T00:00:00Z",
        calendar: { ...calendar, show_amounts: true },
      },
      {
        ...home,
        id: "org_3",
        name: RIGHT_TO_LEFT,
        effective_plan: "free",
        is_trial: false,
        features_off: ["ai:connector", "bills:variable", "reminders:email"],
      },
      {
        ...home,
        id: "org_4",
        name: UNBROKEN,
        effective_plan: "free",
        trial_ends_at: null,
        is_trial: false,
        calendar,
        proposals_waiting: 1,
      },
    ],
    connected_apps: [LONG, HOSTILE, RIGHT_TO_LEFT, UNBROKEN].map((name, n) => ({
      ...claude,
      grant_id: `7d1d2c7a-0d53-4d3f-9a53-44444444444${n}`,
      client_id: "client_d",
      client_name: name,
      organization_name: name,
      redirect_uri: `https://${"sub.".repeat(30)}example.com/callback`,
      subscriptions: [{ ...subscription, url: `https://${"sub.".repeat(30)}example.com/hook` }],
    })),
    grant_alerts: [LONG, HOSTILE, RIGHT_TO_LEFT, UNBROKEN].map((name, n) => ({
      grant_id: `7d1d2c7a-0d53-4d3f-9a53-66666666666${n}`,
      client_name: name,
      organization_name: name,
      ended_at: "2026-11-18T09:00:00Z",
      reason: "code_replayed",
    })),
    provider_links: [LONG, HOSTILE, RIGHT_TO_LEFT, UNBROKEN].map((name, n) => ({
      ...openaiLink,
      id: `lnk_${n}`,
      provider_key: "http_json",
      account_label: name,
      status: n % 2 ? "needs_reauth" : "active",
      bill: name,
      organization: name,
    })),
    connectable_bills: [LONG, HOSTILE, RIGHT_TO_LEFT, UNBROKEN].map((name, n) => ({
      id: `bill_00000000000${n}`,
      name,
      organization: name,
    })),
  },
};

const deletable = (own: Partial<Deletion["organizations"][number]>): Deletion => ({
  country: "DE",
  deletes_at: null,
  plans: true,
  organizations: [{
    writes: true,
    exports: true,
    id: home.id,
    name: "Home",
    is_owner: true,
    deletes_at: null,
    is_paid: false,
    members: 0,
    may_delete: true,
    ...own,
  }],
});

const account = (name: string, query = ""): State =>
  signedIn(`account-${name}${query && "-done"}`, `/account${query}`, { answers: { read_account: ACCOUNTS[name] } });

/** Configured like a service that sells plans. */
const SOLD: Partial<Config> = {
  checkoutUrl: "https://pay.example/checkout?plan={plan}&organization_id={organization_id}",
  invoicesUrl: "https://pay.example/invoices/{organization_id}",
  cancelUrl: "https://pay.example/cancel/{organization_id}",
  proPrice: "€4.00",
  teamPrice: "€9.00",
};
const plan = (state: string, { name, id = home.id, config = SOLD }: {
  name: string;
  id?: string;
  config?: Partial<Config>;
}): State =>
  signedIn(`plan-${state}`, `/organizations/${id}/plan`, { answers: { read_account: ACCOUNTS[name] }, config });

export const ACCOUNT_STATES: readonly State[] = [
  plan("trial", { name: "new" }),
  plan("ended", { name: "over" }),
  plan("unsold", { name: "over", config: {} }),
  plan("of-member", { name: "used", id: "org_work00000000" }),
  plan("unpaid", { name: "awkward", id: "org_2" }),
  signedIn("plan-deleting", `/organizations/${home.id}/plan`, {
    answers: {
      read_account: {
        ...ACCOUNTS.new,
        organizations: [{ ...home, name: LONG, plan: "team", deletes_at: DELETING.deletes_at }],
      },
    },
    config: SOLD,
  }),
  signedIn("account-without-plans", "/account", {
    answers: { read_account: { ...ACCOUNTS.used, plans_enabled: false } },
  }),
  signedIn("address-change", "/account/email", { answers: { read_account: ACCOUNTS.used } }),
  page("address-sent", async ({ pages }) => {
    const { browser } = await signIn(pages, EMAIL);
    return await browser.submit(await (await browser.get("/account/email")).text(), 'name="email"', {
      email: LONG_ADDRESS,
    });
  }),
  page("address-confirm", async ({ pages, browser }) => {
    const addresses = { from: EMAIL, to: LONG_ADDRESS };
    return await browser.get(`${await confirmationUrl(pages.config, addresses, NOW)}&token_hash=a&type=email_change`);
  }),
  page("address-stale", ({ browser }) => browser.post("/account/email/confirm?token_hash=a&type=email_change", {})),
  account("new"),
  account("over"),
  account("used"),
  account("used", "?done=confirm"),
  account("awkward"),
  page("calendar-created", async ({ pages }) => {
    const { browser } = await signIn(pages, EMAIL);
    return await browser.submit(await (await browser.get("/account")).text(), 'value="create"');
  }, { answers: { read_account: ACCOUNTS.new, create_calendar: { outcome: "created" } } }),
  signedIn("access", `/account/access?grant=${claude.grant_id}`, { answers: { read_account: ACCOUNTS.used } }),
  signedIn("access-of-a-viewer", `/account/access?grant=${claude.grant_id}`, {
    answers: {
      read_account: {
        ...ACCOUNTS.used!,
        connected_apps: [{ ...claude, access: "read", role_writes: false }],
      },
    },
  }),
  signedIn("disconnect", `/account/disconnect?grant=${claude.grant_id}`, { answers: { read_account: ACCOUNTS.used } }),
  signedIn("disconnect-awkward", "/account/disconnect?grant=7d1d2c7a-0d53-4d3f-9a53-444444444441", {
    answers: { read_account: ACCOUNTS.awkward },
  }),
  signedIn("organization-delete", `/organizations/${home.id}/delete`, { answers: { read_deletion: deletable({}) } }),
  signedIn("organization-delete-awkward", `/organizations/${home.id}/delete`, {
    answers: { read_deletion: deletable({ name: LONG, members: 3, is_paid: true }) },
  }),
  signedIn("organization-deleting", `/organizations/${home.id}/delete`, {
    answers: { read_deletion: deletable({ name: UNBROKEN, deletes_at: "2026-12-07T10:00:00Z" }) },
  }),
  signedIn("account-delete", "/account/delete", {
    answers: { read_deletion: deletable({ name: HOSTILE, is_owner: false, may_delete: false }) },
  }),
  signedIn("account-delete-owner", "/account/delete", {
    answers: { read_deletion: deletable({ name: RIGHT_TO_LEFT, members: 2 }) },
  }),
  signedIn("account-leaving", "/account/delete", {
    answers: {
      read_deletion: {
        ...deletable({ name: HOSTILE, deletes_at: "2026-12-07T10:00:00Z" }),
        deletes_at: "2026-12-07T10:00:00Z",
      },
    },
  }),
  signedIn("providers-remove", "/account/providers/remove?link=lnk_1", { answers: { read_account: ACCOUNTS.used } }),
  signedIn("providers-remove-awkward", "/account/providers/remove?link=lnk_1", {
    answers: { read_account: ACCOUNTS.awkward },
  }),
];
