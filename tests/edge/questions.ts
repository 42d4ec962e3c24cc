/** One good and one bad request for each function, and the fake database that it calls. */
import { paymentEvent } from "../../local/payment_event.ts";
import { ROUTES, type Slug } from "../../shared/routes.ts";

export interface Question {
  path: string;
  init?: RequestInit;
  /** The expected status. */
  status: number;
  /** Texts that the body must contain. */
  says: string;
}

const SITE = "https://expenses.example";
const WEBHOOK_SECRET = "a-webhook-secret-of-32-bytes-and-more";
const INBOUND_PASSWORD = "a-password-of-the-mail-service";
const SECRET = "a-secret-of-more-than-thirty-two-bytes";

/** The whole environment of a function. @param supabaseUrl URL of `fakeDatabase`. */
export const environmentOf = (supabaseUrl: string): Record<string, string> => ({
  NEXT_PUBLIC_SITE_URL: SITE,
  SUPABASE_URL: supabaseUrl,
  SUPABASE_PUBLISHABLE_KEYS: `{"default":"sb_publishable_test"}`,
  SUPABASE_SECRET_KEYS: `{"default":"sb_secret_test"}`,
  OAUTH_CODE_SECRET: SECRET,
  CRON_SECRET: SECRET,
  PAYMENT_WEBHOOK_SECRET: WEBHOOK_SECRET,
  CREDENTIALS_KEY: "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
  MAIL_URL: "smtp://127.0.0.1:9",
  INBOUND_URL: `postmark://user:${INBOUND_PASSWORD}@in.expenses.example`,
  MAIL_FROM: "Expenses <expenses@expenses.example>",
  FX_SOURCES: `ecb=${supabaseUrl}/nobody`,
});

const ANSWERS: Record<string, unknown> = {
  authenticate_bearer: { outcome: "ok", organization: { id: "org_00000000", name: "Household" } },
  read_calendar: {
    outcome: "ok",
    calendar: {
      organization: "Household",
      country: "DE",
      is_cut: false,
      dates: [{
        bill_id: "bill_000000000001",
        name: "Rent",
        due_on: "2026-12-01",
        dates: 1,
        autopay: false,
        changed_at: "2026-11-03T09:30:00Z",
      }],
    },
  },
  register_client: { outcome: "registered" },
  apply_payment_event: { outcome: "applied", organization_id: "org_00000000" },
  count_reminder_candidates: 0,
  find_rolling_pages: [{ from: ["2026-11-19", ""], until: null }],
  roll_bills: { advanced: 0, failed: [], passed_over: 0 },
  collect_reminders: { digests: 0, reminders: 0, given_up: 0, next: null },
  claim_reminders: null,
  count_waiting_reminders: 0,
  read_newest_rates: { rates_on: null, per_euro: {} },
  find_days_to_rate: [],
  settle_values: { settled: 0, next: null },
  count_provider_links: { links: 3, synced: 3, waiting: 0 },
  claim_provider_link: null,
  keep_inbound_mail: { kept: 1, postponed: 0 },
  record_job_run: null,
};

/** The part of PostgREST that the requests need. */
export function fakeDatabase(): { url: string; close(): Promise<void> } {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const name = /^\/rest\/v1\/rpc\/(\w+)$/.exec(new URL(request.url).pathname)?.[1] ?? "";
    return name in ANSWERS ? Response.json(ANSWERS[name]) : Response.json({ code: "PGRST202" }, { status: 404 });
  });
  return { url: `http://127.0.0.1:${server.addr.port}`, close: () => server.shutdown() };
}

const json = (body: unknown, headers: HeadersInit = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

async function signedEvent(secret: string): Promise<RequestInit> {
  const body = JSON.stringify(await paymentEvent("subscription.charged", {}));
  const bytes = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes.encode(secret), algorithm, false, ["sign"]);
  const digest = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes.encode(body)));
  const signature = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { method: "POST", headers: { "x-payment-signature": signature }, body };
}

const forwarded = (password: string): RequestInit =>
  json({
    MessageID: "1",
    OriginalRecipient: `in+${"0".repeat(20)}@in.expenses.example`,
    RawEmail: "From: a@expenses.example\r\nSubject: Your invoice\r\n\r\n",
  }, { authorization: `Basic ${btoa(`user:${password}`)}` });

/** By slug, the valid request first. Paths are those that the platform's gateway sends. */
export const QUESTIONS: Partial<Record<Slug, () => Promise<Question[]>>> = {
  "mcp": () =>
    Promise.resolve([
      {
        path: "/mcp",
        init: json(INITIALIZE, { authorization: `Bearer exp_at_${"A".repeat(43)}` }),
        status: 200,
        says: `"serverInfo"`,
      },
      { path: "/mcp", init: json(INITIALIZE), status: 401, says: "error" },
    ]),
  "oauth": () =>
    Promise.resolve([
      {
        path: "/oauth/register",
        init: json({ client_name: "Test", redirect_uris: ["https://client.example/callback"] }),
        status: 201,
        says: `"client_id"`,
      },
      { path: "/oauth/token", init: json({ grant_type: "authorization_code" }), status: 400, says: "invalid_request" },
    ]),
  "payment-webhook": async () => [
    { path: "/payment-webhook", init: await signedEvent(WEBHOOK_SECRET), status: 200, says: `"applied"` },
    { path: "/payment-webhook", init: await signedEvent("another secret"), status: 401, says: "error" },
  ],
  "auth-callback": () =>
    Promise.resolve([
      { path: "/auth-callback/login", status: 200, says: `name="email"` },
      { path: `/auth-callback/calendar/exp_cal_${"A".repeat(43)}.ics`, status: 200, says: "SUMMARY:Due: Rent" },
      { path: "/auth-callback/auth/callback?error=access_denied", status: 400, says: "/login" },
    ]),
  "cron-reminders": () =>
    Promise.resolve([
      {
        path: "/cron-reminders",
        init: { headers: { authorization: `Bearer ${SECRET}` } },
        status: 200,
        says: `"candidates":0`,
      },
      { path: "/cron-reminders?secret=another", status: 401, says: "unauthorized" },
    ]),
  "inbound-mail": () =>
    Promise.resolve([
      { path: "/inbound-mail", init: forwarded(INBOUND_PASSWORD), status: 200, says: `"ok"` },
      { path: "/inbound-mail", init: forwarded("another password"), status: 401, says: "error" },
    ]),
  "cron-provider-sync": () =>
    Promise.resolve([
      { path: `/cron-provider-sync?secret=${SECRET}&period=2026-09`, status: 200, says: `"synced":3` },
      { path: `/cron-provider-sync?secret=${SECRET}&period=2026-9`, status: 400, says: "invalid_request" },
    ]),
};

/** All functions, according to the folders that have an entry point. */
export async function builtFunctions(root: URL): Promise<Slug[]> {
  const known = new Set(ROUTES.map(({ slug }) => slug));
  const folders = await Array.fromAsync(Deno.readDir(new URL("functions/", root)), ({ name }) => name as Slug);
  return folders.filter((name) => known.has(name)).toSorted();
}
