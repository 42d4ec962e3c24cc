/** The job that fetches amounts, over a test's database and providers; and organizations with links. */
import { assertEquals } from "@std/assert";
import { createCronProviderSyncApp } from "../../../functions/cron-provider-sync/app.ts";
import type { RunAnswer, RunLimits } from "../../../functions/cron-provider-sync/run.ts";
import { readConfig } from "../../../shared/config.ts";
import { sealCredential } from "../../../shared/credentials/envelope.ts";
import type { Database } from "../../../shared/db/client.ts";
import { createLog } from "../../../shared/log.ts";
import type { GuardedFetch } from "../../../shared/net/guarded_fetch.ts";
import type { MonthRequest, Provider, Statement } from "../../../shared/providers/provider.ts";
import type { Registry } from "../../../shared/providers/registry.ts";
import type { TestDatabase } from "../../_support/database.ts";

export const SECRET = "the-secret-of-the-scheduler-in-tests";
export const KEY = btoa("k".repeat(32));
export const PREVIOUS_KEY = btoa("p".repeat(32));

/** @param say the provider's result or error; the credential is `{ account }` */
export const fakeProvider = (
  key: string,
  say: (request: MonthRequest) => Promise<Omit<Statement, "pages">> | Omit<Statement, "pages">,
): Provider => ({
  key,
  name: `The ${key} company`,
  base: "https://provider.invalid",
  fields: [{ name: "account", words: () => ({ label: "Account", hint: "" }), isSecret: true, pattern: /.+/ }],
  label: ({ account = "" }) => `…${account.slice(-4)}`,
  fetchMonth: async (request) => ({ pages: 1, ...await say(request) }),
});

export const registryOf = (...providers: Provider[]): Registry =>
  new Map(providers.map((provider) => [provider.key, provider]));

export interface SyncOptions {
  database: Database;
  registry?: Registry;
  now: () => Date;
  limits?: Partial<RunLimits>;
  env?: Record<string, string>;
  fetch?: typeof fetch;
  guardedFetch?: GuardedFetch;
}

export interface SyncHarness {
  /** Runs the job as the scheduler does, and returns its response. */
  run(period?: string): Promise<RunAnswer>;
  request(path: string, init?: RequestInit): Promise<Response>;
  lines: string[];
}

const unexpected = () => Promise.reject(new Error("unexpected fetch"));

export function createSync(options: SyncOptions): SyncHarness {
  const { database, registry, now, limits, env = {}, fetch = unexpected, guardedFetch = unexpected } = options;
  const lines: string[] = [];
  const config = readConfig({
    SUPABASE_URL: "https://project.supabase.co",
    CRON_SECRET: SECRET,
    CREDENTIALS_KEY: KEY,
    ...env,
  }, []);
  const log = createLog((line) => lines.push(line));
  const app = createCronProviderSyncApp({ config, database, clock: now, log, fetch, guardedFetch }, {
    registry,
    // Time passes only on a test's command, regardless of the machine's speed.
    limits: { elapsed: () => 0, ...limits },
  });
  const request = async (path: string, init?: RequestInit) => await app.request(path, init);
  return {
    lines,
    request,
    async run(period) {
      const response = await request(`/api/cron/provider-sync${period ? `?period=${period}` : ""}`, {
        headers: { authorization: `Bearer ${SECRET}` },
      });
      assertEquals(response.status, 200, await response.clone().text());
      return await response.json();
    },
  };
}

export interface LinkOptions {
  organizationId: string;
  billId: string;
  provider: string;
  /** Encrypted with the first key; no credential when null. */
  credential?: Record<string, string> | null;
  key?: string;
  status?: string;
}

/** A link with its credential, as the connect page creates it. */
export async function addLink(
  database: TestDatabase,
  { organizationId, billId, provider, credential = { account: "acme" }, key = KEY, status = "active" }: LinkOptions,
): Promise<string> {
  const [link] = await database.query<{ id: string }>(
    `insert into app.provider_links (organization_id, expense_id, provider_key, account_label, status, created_at)
     values ($1, $2, $3, '…01', $4, '2026-01-01') returning id`,
    [organizationId, billId, provider, status],
  );
  if (credential) {
    const envelope = await sealCredential([key], link!.id, credential);
    await database.query(
      "insert into app.provider_credentials (link_id, envelope, updated_at) values ($1, $2::text::jsonb, '2026-01-01')",
      [link!.id, JSON.stringify(envelope)],
    );
  }
  return link!.id;
}

/** The amounts of a bill's open dates, if known: `2026-10-25 84.20`. */
export const amounts = async (database: TestDatabase) =>
  (await database.query<{ text: string }>(
    `select o.due_on || ' ' || coalesce(app.format_amount(o.expected_minor, o.currency), '-') || ' ' || o.amount_source as text
     from app.expense_occurrences as o where o.status = 'open' order by o.expense_id, o.due_on`,
  )).map(({ text }) => text);

/** All rows that a run may write except run counters, for detecting changes by another run. */
export const written = (database: TestDatabase) =>
  database.query(
    `select 'statement' as kind, to_jsonb(s) as row from app.provider_statements as s
     union all select 'occurrence', to_jsonb(o) from app.expense_occurrences as o
     union all select 'change', to_jsonb(c) from app.change_sets as c
     union all select 'item', to_jsonb(i) from app.change_items as i
     union all select 'link', to_jsonb(l) - array['asked_at', 'updated_at'] from app.provider_links as l
     order by 1, 2`,
  );
