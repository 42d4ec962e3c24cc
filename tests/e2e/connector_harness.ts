/** The connector over a real database in this process: members call tools without a browser. */
import { createMcpApp } from "../../functions/mcp/app.ts";
import type { Config } from "../../shared/config.ts";
import { createLog } from "../../shared/log.ts";
import { assertEquals } from "@std/assert";
import { addMember } from "../_support/books.ts";
import type { TestDatabase } from "../_support/database.ts";

const SITE = "https://expenses.example";
/** The connector's URL; no server listens there. */
export const MCP_URL = `${SITE}/api/mcp`;
/** Signs the links in answers. */
export const CODE_SECRET = "a-secret-of-more-than-thirty-two-bytes";
export const NOW = new Date("2026-10-06T09:00:00Z");

// deno-lint-ignore no-explicit-any -- results are inspected field by field
export type Json = any;

export interface Member {
  userId: string;
  email: string;
  organizationId: string;
  /** Answers requests of their AI client to the connector's address in this process. */
  fetch: typeof fetch;
  /** Calls a tool and returns the whole response as text, and its envelope. */
  call(tool: string, args?: Record<string, unknown>): Promise<{ text: string; envelope: Json }>;
  /** The envelope of a call that must succeed. */
  ok(tool: string, args?: Record<string, unknown>): Promise<Json>;
  /** The error of a call that must be refused. */
  fails(tool: string, args?: Record<string, unknown>): Promise<Json>;
}

interface NewMember {
  email?: string;
  /** The name of the person's own organization. */
  organization?: string;
  /** Instead of a trial, whose end would cause a mail. */
  plan?: "pro" | "team";
  timezone?: string;
  baseCurrency?: string;
  clock?: () => Date;
}

/** A person with an organization and a token. */
export async function newMember(
  database: TestDatabase,
  { email, organization = "Home", plan, timezone = "Europe/Berlin", baseCurrency = "EUR", clock = () => NOW }:
    NewMember,
): Promise<Member> {
  const userId = crypto.randomUUID();
  email ??= `${userId}@example.com`;
  await database.query("insert into auth.users (id, email) values ($1, $2)", [userId, email]);
  const { organization_id: organizationId } = await database.asService<Json>("complete_onboarding", {
    user_id: userId,
    email,
    country: "DE",
    organization_name: organization,
    timezone,
    base_currency: baseCurrency,
    reminder_email: email,
    at: clock().toISOString(),
  });
  if (plan) await database.query("update identity.organizations set plan = $2 where id = $1", [organizationId, plan]);
  return await connectClient(database, { userId, email, organizationId }, clock);
}

/** A person who joins another person's organization. */
export async function joinMember(
  database: TestDatabase,
  { organizationId, clock, ...person }: { email?: string; organizationId: string; clock?: () => Date },
): Promise<Member> {
  const { userId, email } = await newMember(database, { ...person, organization: "Another", plan: "team" });
  await addMember(database, organizationId, userId, "member");
  return await connectClient(database, { userId, email, organizationId }, clock);
}

/** Another AI client of a person, with its own grant and token. */
export async function connectClient(
  database: TestDatabase,
  { userId, email, organizationId }: Pick<Member, "userId" | "email" | "organizationId">,
  clock = () => NOW,
): Promise<Member> {
  const token = `exp_at_${crypto.randomUUID().replaceAll("-", "").padEnd(43, "0")}`;
  await issueToken(database, { userId, organizationId, token, at: clock() });
  const app = createMcpApp({
    config: {
      siteUrl: SITE,
      supabaseUrl: "https://ref.supabase.example",
      rateLimits: "off",
      fileHosts: [] as readonly string[],
      codeSecrets: [CODE_SECRET] as readonly string[],
    } as Config,
    database: { call: (name, args) => database.asService(name, args) },
    clock,
    log: createLog(() => {}),
    fetch: () => Promise.reject(new Error("the connector fetches nothing")),
    guardedFetch: () => Promise.reject(new Error("the connector fetches nothing")),
  });
  const fetch: Member["fetch"] = async (input, init) => {
    const request = new Request(input, init);
    request.headers.set("authorization", `Bearer ${token}`);
    return await app.fetch(request);
  };
  const call: Member["call"] = async (tool, args = {}) => {
    const response = await fetch(MCP_URL, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: args } }),
    });
    const text = await response.text();
    return { text, envelope: JSON.parse(text).result?.structuredContent };
  };
  return {
    userId,
    email,
    organizationId,
    fetch,
    call,
    async ok(tool, args) {
      const { envelope } = await call(tool, args);
      assertEquals(envelope.ok, true, JSON.stringify(envelope.error));
      return envelope;
    },
    async fails(tool, args) {
      const { envelope } = await call(tool, args);
      assertEquals(envelope.ok, false, JSON.stringify(envelope));
      return envelope.error;
    },
  };
}

async function issueToken(
  database: TestDatabase,
  { userId, organizationId, token, at }: { userId: string; organizationId: string; token: string; at: Date },
): Promise<void> {
  await database.query(
    `with client as (
       insert into oauth.clients (client_id, client_name, redirect_uris, created_at)
       values ('client_' || $6, 'Test client', '{https://client.example/callback}', $4) returning client_id
     ), consent as (
       insert into oauth.grants (client_id, user_id, organization_id, redirect_uri, resource, created_at, expires_at)
       select client_id, $1::uuid, $2, 'https://client.example/callback', $5, $4, $4::timestamptz + interval '2 years'
       from client returning id
     )
     insert into oauth.tokens (token_hash, kind, grant_id, issued_at, expires_at)
     select sha256(convert_to($3, 'UTF8')), 'access', id, $4, $4::timestamptz + interval '2 years' from consent`,
    [userId, organizationId, token, at.toISOString(), MCP_URL, crypto.randomUUID()],
  );
}
