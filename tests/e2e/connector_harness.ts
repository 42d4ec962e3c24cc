/** The connector over a real database in this process: members call tools without a browser. */
import { createMcpApp } from "../../functions/mcp/app.ts";
import type { Config } from "../../shared/config.ts";
import { createLog } from "../../shared/log.ts";
import type { TestDatabase } from "../_support/database.ts";

const SITE = "https://expenses.example";
export const NOW = new Date("2026-10-06T09:00:00Z");

// deno-lint-ignore no-explicit-any -- results are inspected field by field
export type Json = any;

export interface Member {
  userId: string;
  email: string;
  organizationId: string;
  /** Calls a tool and returns the whole response as text, and its envelope. */
  call(tool: string, args?: Record<string, unknown>): Promise<{ text: string; envelope: Json }>;
}

/** A person with an organization and a token. */
export async function newMember(
  database: TestDatabase,
  { email, organization }: { email: string; organization: string },
): Promise<Member> {
  const userId = crypto.randomUUID();
  const token = `exp_at_${crypto.randomUUID().replaceAll("-", "").padEnd(43, "0")}`;
  await database.query("insert into auth.users (id, email) values ($1, $2)", [userId, email]);
  const { organization_id: organizationId } = await database.asService<Json>("complete_onboarding", {
    user_id: userId,
    email,
    country: "DE",
    organization_name: organization,
    timezone: "Europe/Berlin",
    base_currency: "EUR",
    reminder_email: email,
    at: NOW.toISOString(),
  });
  await issueToken(database, { userId, organizationId, token });

  const app = createMcpApp({
    config: { siteUrl: SITE, supabaseUrl: "https://ref.supabase.example", rateLimits: "off" } as Config,
    database: { call: <Result>(name: string, args: Record<string, unknown>) => database.asService<Result>(name, args) },
    clock: () => NOW,
    log: createLog(() => {}),
    fetch: () => Promise.reject(new Error("the connector fetches nothing")),
    guardedFetch: () => Promise.reject(new Error("the connector fetches nothing")),
  });
  return {
    userId,
    email,
    organizationId,
    async call(tool, args = {}) {
      const response = await app.request(`${SITE}/api/mcp`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: args } }),
      });
      const text = await response.text();
      return { text, envelope: JSON.parse(text).result?.structuredContent };
    },
  };
}

async function issueToken(
  database: TestDatabase,
  { userId, organizationId, token }: { userId: string; organizationId: string; token: string },
): Promise<void> {
  await database.query(
    `with client as (
       insert into oauth.clients (client_id, client_name, redirect_uris, created_at)
       values ('client_' || $2, 'Test client', '{https://client.example/callback}', $4) returning client_id
     ), consent as (
       insert into oauth.grants (client_id, user_id, organization_id, redirect_uri, resource, created_at, expires_at)
       select client_id, $1::uuid, $2, 'https://client.example/callback', $5, $4, $4::timestamptz + interval '30 days'
       from client returning id
     )
     insert into oauth.tokens (token_hash, kind, grant_id, issued_at, expires_at)
     select sha256(convert_to($3, 'UTF8')), 'access', id, $4, $4::timestamptz + interval '1 hour' from consent`,
    [userId, organizationId, token, NOW.toISOString(), `${SITE}/api/mcp`],
  );
}
