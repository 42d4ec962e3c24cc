/**
 * Every page in each state worth seeing, over a fake identity provider and a database that returns what a state needs.
 */
import { createOAuthApp } from "../../functions/oauth/app.ts";
import { withMailedAddress } from "../../functions/auth-callback/sign_in/mailed_address.ts";
import type { ConnectionRefusal, OpenConnection } from "../../shared/db/provider_link_store.ts";
import type { Account, ConnectedApp } from "../../shared/db/identity_store.ts";
import type { ConsentOrganization } from "../../shared/db/oauth_store.ts";
import type { Config } from "../../shared/config.ts";
import { PROVIDERS } from "../../shared/providers/registry.ts";
import type { Languages } from "../../shared/words/words.ts";
import { createLog } from "../../shared/log.ts";
import { signUnsubscribing } from "../../shared/reminders/unsubscribe_token.ts";
import { withAskingApp } from "../../shared/oauth/asking_app.ts";
import { answering, type Browser, createPages, formsOf, NOW, signIn } from "../functions/auth-callback/harness.ts";

/** What a picture shows: the answer to one request, made by the app in the session of `browser`. */
export interface State {
  name: string;
  /** Renders the page; each call renders it anew. @param languages the catalogs; a test may pass its own. */
  show(siteUrl: string, languages?: Languages): Promise<Response>;
}

/** Names chosen by people and apps. */
export const LONG =
  "The Extraordinarily Long-Winded Household of Anna-Maria von Württemberg-Hohenzollern and Sons, Purveyors of Fine Dirigibles";
export const UNBROKEN = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft_".repeat(2)
  .slice(
    0,
    120,
  );
export const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(1)> \u202Egpj.exe`;
const RIGHT_TO_LEFT = "مصاريف عائلة الأندلسي (المنزل)";

const CURRENCIES = ["AED", "CHF", "EUR", "GBP", "INR", "JPY", "USD"];
const EMAIL = "demo@example.com";

const profile: Account["profile"] = {
  email: EMAIL,
  country: "DE",
  timezone: "Europe/Berlin",
  email_enabled: true,
  default_lead_days: 3,
  reminder_email: null,
  reminder_email_confirmed: false,
  refused_email: null,
};
const home: Account["organizations"][number] = {
  id: "org_home00000000",
  name: "Home",
  role: "owner",
  base_currency: "EUR",
  reminders_enabled: true,
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
};
const claude: ConnectedApp = {
  grant_id: "7d1d2c7a-0d53-4d3f-9a53-111111111111",
  client_id: "https://claude.ai/oauth/mcp-oauth-client-metadata",
  client_name: "Claude",
  redirect_uri: "https://claude.ai/api/mcp/auth_callback",
  organization_id: home.id,
  organization_name: "Home",
  created_at: "2026-10-03T09:00:00Z",
  last_used_at: "2026-11-19T09:00:00Z",
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
  role: "owner",
  last_success_period: "2026-10-01",
};
const ACCOUNTS: Record<string, Account> = {
  "new": {
    profile,
    organizations: [home],
    connected_apps: [],
    grant_alerts: [],
    provider_links: [],
    connectable_bills: [],
  },
  "used": {
    profile: { ...profile, reminder_email: "bills@example.com" },
    organizations: [home, {
      ...home,
      id: "org_work00000000",
      name: "Workshop",
      role: "member",
      plan: "pro",
      effective_plan: "pro",
      trial_ends_at: null,
      is_trial: false,
      period_ends_at: "2026-12-31T00:00:00Z",
      features_off: ["bills:variable"],
    }],
    connected_apps: [
      claude,
      {
        ...claude,
        grant_id: "7d1d2c7a-0d53-4d3f-9a53-222222222222",
        client_id: "client_b",
        client_name: "Claude Code",
        redirect_uri: "http://127.0.0.1:33418/callback",
        last_used_at: null,
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
    profile,
    organizations: [{
      ...home,
      effective_plan: "free",
      trial_ends_at: "2026-11-14T10:00:00Z",
      is_trial: false,
      features_off: ["ai:connector", "bills:variable", "reminders:email"],
    }],
    connected_apps: [claude],
    grant_alerts: [],
    provider_links: [],
    connectable_bills: [],
  },
  "awkward": {
    profile: { ...profile, reminder_email: `${"very.long.address.".repeat(3)}@${"subdomain.".repeat(12)}example.com` },
    organizations: [
      { ...home, name: LONG },
      {
        ...home,
        id: "org_2",
        name: HOSTILE,
        plan: "team",
        plan_status: "past_due",
        trial_ends_at: null,
        is_trial: false,
        grace_ends_at: "2026-11-25T00:00:00Z",
      },
      {
        ...home,
        id: "org_3",
        name: RIGHT_TO_LEFT,
        effective_plan: "free",
        is_trial: false,
        features_off: ["ai:connector", "bills:variable", "reminders:email"],
      },
      { ...home, id: "org_4", name: UNBROKEN, effective_plan: "free", trial_ends_at: null, is_trial: false },
    ],
    connected_apps: [LONG, HOSTILE, RIGHT_TO_LEFT, UNBROKEN].map((name, n) => ({
      ...claude,
      grant_id: `7d1d2c7a-0d53-4d3f-9a53-44444444444${n}`,
      client_id: "client_d",
      client_name: name,
      organization_name: name,
      redirect_uri: `https://${"sub.".repeat(30)}example.com/callback`,
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

interface Visit {
  browser: Browser;
  /** The identity provider's mail page, and the pages' other dependencies. */
  pages: ReturnType<typeof createPages>;
  languages: Languages | undefined;
}

const CONFIG: Partial<Config> = {
  supportUrl: "https://expenses.example/support",
  privacyUrl: "https://expenses.example/privacy",
  termsUrl: "https://expenses.example/terms",
};

function page(
  name: string,
  show: (visit: Visit) => Promise<Response>,
  { answers = {}, config = {} }: { answers?: Record<string, unknown>; config?: Partial<Config> } = {},
): State {
  return {
    name,
    async show(siteUrl, languages) {
      const database = answering({
        claim_attempt: { outcome: "allowed" },
        note_sign_in: { onboarded: false },
        read_onboarding: { onboarded: false, currencies: CURRENCIES },
        ...answers,
      });
      const pages = createPages(database, { ...CONFIG, ...config, siteUrl }, PROVIDERS, languages);
      return await show({ browser: pages.browser(), pages, languages });
    },
  };
}

const signedIn = (name: string, path: string, options?: Parameters<typeof page>[2]): State =>
  page(
    name,
    async ({ pages }) => await (await signIn(pages, EMAIL)).browser.get(path, { "accept-language": "de-DE" }),
    options,
  );

const account = (name: string, query = ""): State =>
  signedIn(`account-${name}${query && "-done"}`, `/account${query}`, { answers: { read_account: ACCOUNTS[name] } });

const opened: OpenConnection = {
  outcome: "open",
  bill: "Cloud hosting",
  organization: "Home",
  organization_id: home.id,
  owner_email: EMAIL,
  link: null,
  link_id: "lnk_000000000001",
};
const connectPath = (provider = "") =>
  `/account/providers/connect?bill=bill_000000000001${provider && `&provider=${provider}`}`;

/** The connect page of a provider, for a bill as the database returns it. */
const connecting = (
  name: string,
  provider: string,
  connection: Partial<OpenConnection> | ConnectionRefusal = {},
): State =>
  signedIn(`connect-${name}`, connectPath(provider), { answers: { open_connection: { ...opened, ...connection } } });

/** The same after submitting a credential that the provider answered this way. */
const tried = (name: string, status: number, key: string): State =>
  page(`connect-${name}`, async ({ pages }) => {
    pages.ask.answer = () => new Response(null, { status });
    const { browser } = await signIn(pages, EMAIL);
    const form = await (await browser.get(connectPath("digitalocean"))).text();
    return await browser.submit(form, "credential_token", { credential_token: key });
  }, { answers: { open_connection: opened } });

const failedSignIn = (name: string, query: string): State =>
  page(name, async ({ browser }) => await browser.get(`/auth/callback?${query}`));

const LONG_ADDRESS = `${"very.long.address.".repeat(3)}@${"subdomain.".repeat(12)}example.com`;

/** The page of a mailed link, with or without an address. */
const confirm = (name: string, { address, isSignedIn = false }: { address?: string; isSignedIn?: boolean }): State =>
  page(name, async ({ pages, browser }) => {
    const visitor = isSignedIn ? (await signIn(pages, EMAIL)).browser : browser;
    const link = "/auth/callback?token_hash=abc&type=email";
    return await visitor.get(address ? await withMailedAddress(pages.config, link, { address, at: NOW }) : link);
  });

interface Unsubscribing {
  organizations?: { name: string; bills?: string[] }[];
  sentOn?: string;
  isSignedIn?: boolean;
  isOwner?: boolean;
  /** The button was pressed. */
  isSent?: boolean;
}

/** The page behind the link in a reminder mail. */
function unsubscribing(
  name: string,
  { organizations = [{ name: "Home" }], sentOn = "2026-11-20", isSignedIn, isOwner = true, isSent }: Unsubscribing,
): State {
  return page(`unsubscribe-${name}`, async ({ pages, browser }) => {
    const visitor = isSignedIn ? (await signIn(pages, EMAIL)).browser : browser;
    const ownerId = isOwner ? pages.provider.user(EMAIL).id : crypto.randomUUID();
    const token = await signUnsubscribing(pages.config.codeSecrets, { ownerId, sentOn });
    const link = `/email/unsubscribe?t=${token}`;
    return isSent ? await visitor.post(link, {}) : await visitor.get(link);
  }, {
    answers: {
      unsubscribe: { outcome: "unsubscribed" },
      read_unsubscribing: {
        email_enabled: true,
        organizations: organizations.map(({ name, bills }, n) => ({
          id: `org_0000000${n}`,
          name,
          reminders_enabled: true,
          ...(bills && { bills: bills.map((name, m) => ({ id: `bill_0000000${m}`, name })) }),
        })),
      },
    },
  });
}

interface ConsentState {
  clientId?: string;
  clientName?: string;
  redirectUri?: string;
  organizations?: Partial<ConsentOrganization>[];
  /** Further parameters of the request. */
  more?: Record<string, string>;
}

const ORGANIZATION: ConsentOrganization = {
  organization_id: home.id,
  name: "Home",
  role: "owner",
  plan: "team",
  has_connector: true,
};

function consent(
  name: string,
  {
    clientId = "client_a",
    clientName = "Claude",
    redirectUri = "https://claude.ai/api/mcp/auth_callback",
    organizations = [{}],
    more = {},
  }: ConsentState,
): State {
  return page(`consent-${name}`, async ({ pages, languages }) => {
    const { browser } = await signIn(pages, EMAIL);
    const opened = {
      client: { client_id: clientId, client_name: clientName, redirect_uris: [redirectUri] },
      approved: [],
      onboarded: true,
      organizations: organizations.map((organization, n) => ({
        ...ORGANIZATION,
        organization_id: `org_${n}`,
        ...organization,
      })),
    };
    const app = createOAuthApp({
      config: pages.config,
      database: answering({
        open_consent: opened,
        open_document_consent: { ...opened, document: "fresh", retry_after: 0, serves_stale: false },
      }),
      clock: () => NOW,
      log: createLog(() => {}),
      fetch: pages.provider.fetch,
      guardedFetch: () => Promise.reject(new Error("unexpected fetch")),
    }, languages);
    const query = new URLSearchParams({
      response_type: "code",
      client_id: clientId,
      redirect_uri: redirectUri,
      code_challenge: "a".repeat(43),
      code_challenge_method: "S256",
      ...more,
    });
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    return await app.request(`${pages.config.siteUrl}/api/oauth/authorize?${query}`, { headers: { cookie } });
  });
}

export const STATES: readonly State[] = [
  page("front", ({ browser }) => browser.get("/")),
  signedIn("front-signed-in", "/"),
  page("login", ({ browser }) => browser.get("/login"), {
    config: { authProviders: ["google", "github"], demoEmail: "demo@example.com" },
  }),
  page("login-plain", ({ browser }) => browser.get("/login")),
  page("login-for-app", async ({ browser, pages }) => {
    const next = await withAskingApp(pages.config.codeSecrets, "/api/oauth/authorize?client_id=a", {
      name: HOSTILE,
      at: NOW,
    });
    return await browser.get(`/login?next=${encodeURIComponent(next)}`);
  }),
  page("login-mistyped", ({ browser }) => browser.post("/login", { email: `${UNBROKEN}<b>@` })),
  page("login-sent", async ({ browser }) => {
    await browser.post("/login", { email: EMAIL });
    return await browser.get("/login?sent=1&next=%2Faccount");
  }),
  page("login-wrong-code", async ({ browser }) => {
    await browser.post("/login", { email: LONG_ADDRESS });
    return await browser.post("/login", { action: "code", code: "12" });
  }),
  page("login-limited", ({ browser }) => browser.post("/login", { email: EMAIL }), {
    answers: { claim_attempt: { outcome: "limited", retry_after: 700 } },
  }),
  confirm("confirm", { address: EMAIL }),
  confirm("confirm-other", { address: LONG_ADDRESS, isSignedIn: true }),
  confirm("confirm-unsaid", { isSignedIn: true }),
  page("confirm-untyped", ({ browser }) => browser.post("/auth/callback?token_hash=abc&type=email", {})),
  page("no-cookies", ({ pages }) => {
    const headers = { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" };
    return Promise.resolve(
      pages.app.request(`${pages.config.siteUrl}/login`, { method: "POST", headers, body: "email=" }),
    );
  }),
  page("no-mail", ({ browser, pages }) => {
    pages.provider.failure = () => Promise.resolve(new Response(null, { status: 500 }));
    return browser.post("/login", { email: EMAIL });
  }),
  failedSignIn("failed-used", "error=access_denied&error_code=otp_expired"),
  failedSignIn("failed-cancelled", "error=access_denied"),
  failedSignIn("failed-browser", "code=7d1d2c7a-0d53-4d3f-9a53-111111111111"),
  failedSignIn("failed-incomplete", ""),
  page("identity-provider-down", async ({ pages }) => {
    const { browser } = await signIn(pages, EMAIL);
    pages.provider.failure = () => Promise.resolve(new Response(null, { status: 429 }));
    return await browser.get("/account");
  }),
  signedIn("onboarding", "/onboarding"),
  page("onboarding-problems", async ({ pages }) => {
    const { browser } = await signIn(pages, EMAIL);
    const form = formsOf(await (await browser.get("/onboarding")).text())[0]!;
    return await browser.post("/onboarding", {
      ...form.fields,
      country: "",
      timezone: "Mars",
      organization_name: HOSTILE.repeat(2),
      reminder_email: "bills",
    });
  }),
  account("new"),
  account("over"),
  account("used"),
  account("used", "?done=confirm"),
  account("awkward"),
  signedIn("disconnect", `/account/disconnect?grant=${claude.grant_id}`, { answers: { read_account: ACCOUNTS.used } }),
  signedIn("disconnect-awkward", "/account/disconnect?grant=7d1d2c7a-0d53-4d3f-9a53-444444444441", {
    answers: { read_account: ACCOUNTS.awkward },
  }),
  signedIn("providers-remove", "/account/providers/remove?link=lnk_1", { answers: { read_account: ACCOUNTS.used } }),
  signedIn("providers-remove-awkward", "/account/providers/remove?link=lnk_1", {
    answers: { read_account: ACCOUNTS.awkward },
  }),
  connecting("choose", ""),
  connecting("choose-unknown", "hetzner", {
    link: { provider_key: "openai", account_label: "Organization …3f9a", status: "active" },
  }),
  connecting("choose-awkward", encodeURIComponent(HOSTILE), { bill: UNBROKEN, organization: LONG }),
  connecting("empty", "digitalocean"),
  connecting("two-fields", "http_json"),
  connecting("again", "digitalocean", {
    link: { provider_key: "digitalocean", account_label: "Team …4f2a", status: "needs_reauth" },
  }),
  connecting("instead", "github", {
    link: { provider_key: "digitalocean", account_label: "Team …4f2a", status: "active" },
  }),
  connecting("awkward", "openai", {
    bill: HOSTILE,
    organization: RIGHT_TO_LEFT,
    link: { provider_key: "openai", account_label: UNBROKEN, status: "paused" },
  }),
  tried("refused", 401, "dop_v1_0123456789abcdef"),
  tried("malformed", 200, "short"),
  tried("down", 502, "dop_v1_0123456789abcdef"),
  signedIn("connect-done", "/account/providers/connected?bill=bill_000000000001&amount=none", {
    answers: {
      open_connection: {
        ...opened,
        link: { provider_key: "digitalocean", account_label: "Team …4f2a", status: "active" },
      },
    },
  }),
  connecting("not-owner", "digitalocean", { ...opened, outcome: "not_owner", owner_email: "noor@example.com" }),
  connecting("no-plan", "digitalocean", { ...opened, outcome: "feature_not_in_plan" }),
  connecting("same-every-time", "digitalocean", { ...opened, outcome: "not_variable" }),
  connecting("unknown-bill", "digitalocean", { outcome: "unknown_bill" }),
  page("not-found", ({ browser }) => browser.get("/nothing/here")),
  page("reminder-link", async ({ pages }) => {
    const { browser } = await signIn(pages, EMAIL);
    const form = formsOf(await (await browser.get("/onboarding")).text())[0]!;
    await browser.post("/onboarding", { ...form.fields, country: "DE", reminder_email: "bills@example.com" });
    return await browser.get(/\/account\/reminder-email\S+/.exec(pages.mails[0]!.text)![0]);
  }, { answers: { complete_onboarding: { outcome: "created", organization_id: home.id } } }),
  unsubscribing("one", { organizations: [{ name: HOSTILE }] }),
  unsubscribing("many", { organizations: [{ name: "Home" }, { name: LONG }, { name: UNBROKEN }] }),
  unsubscribing("owner", { isSignedIn: true, organizations: [{ name: "Home", bills: ["Rent", HOSTILE, UNBROKEN] }] }),
  unsubscribing("old", { sentOn: "2026-08-01" }),
  unsubscribing("old-other", { sentOn: "2026-08-01", isSignedIn: true, isOwner: false }),
  unsubscribing("off", { organizations: [] }),
  unsubscribing("done", { isSent: true }),
  page("stale-reminder-link", ({ browser }) => browser.get("/account/reminder-email?t=abc")),
  page("broken", async ({ pages }) => await (await signIn(pages, EMAIL)).browser.get("/account"), { answers: {} }),
  consent("one", {}),
  consent("verified", { clientId: "https://claude.ai/oauth/mcp-oauth-client-metadata" }),
  consent("doubted", {
    clientId: "https://claude-login.example/client.json",
    redirectUri: "http://127.0.0.1:33418/callback",
  }),
  consent("look-alike-letters", { clientName: "Ⲥlaude", redirectUri: "http://127.0.0.1:33418/callback" }),
  consent("forwarded", { clientName: "Visual Studio Code", redirectUri: "https://vscode.dev/redirect" }),
  consent("silent", { redirectUri: "http://127.0.0.1:33418/callback", more: { prompt: "none" } }),
  consent("many", {
    organizations: [{}, { name: "Workshop", plan: "pro", role: "member" }, {
      name: "Choir",
      plan: "free",
      has_connector: false,
    }],
  }),
  consent("none", { organizations: [{ plan: "free", has_connector: false }] }),
  consent("loopback", { clientName: "Claude Code (expenses)", redirectUri: "http://127.0.0.1:33418/callback" }),
  consent("app", { clientName: "Cursor", redirectUri: "cursor://anysphere.cursor-mcp/oauth/callback" }),
  consent("unasked", {
    redirectUri: `https://claude.ai.${"sub.".repeat(20)}evil.example/callback`,
    more: { prompt: "none" },
  }),
  consent("lookalike", { redirectUri: "https://claude.ai.evil.example/callback" }),
  consent("awkward", {
    clientName: HOSTILE,
    redirectUri: `https://${"sub.".repeat(30)}example.com/callback`,
    organizations: [LONG, RIGHT_TO_LEFT, HOSTILE, UNBROKEN].map((name) => ({ name })),
  }),
  consent("right-to-left", { clientName: RIGHT_TO_LEFT, organizations: [{ name: RIGHT_TO_LEFT }] }),
];
