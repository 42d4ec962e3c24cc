/**
 * An app that a person connected to a test's organization, and its requests to the connector with a test's database.
 */
import { Buffer } from "node:buffer";
import { createMcpApp } from "../../functions/mcp/app.ts";
import { readConfig } from "../../shared/config.ts";
import type { Deps } from "../../shared/deps.ts";
import { createLog } from "../../shared/log.ts";
import { hashToken } from "../../shared/oauth/tokens.ts";
import type { Books, Json } from "./books.ts";
import type { TestDatabase } from "./database.ts";

export const SITE = "https://expenses.example";
/** Any key of 32 bytes. */
export const CREDENTIALS_KEY = Buffer.alloc(32, 7).toString("base64");

export interface ConnectedApp {
  grantId: string;
  /** Sends a method, of the revision 2026-07-28 unless another is given. @returns the result, or the error. */
  ask(method: string, params?: Json): Promise<Json>;
}

interface Options {
  clock: Deps["clock"];
  guardedFetch?: Deps["guardedFetch"];
  /** The client's declared capabilities. */
  capabilities?: Json;
  revision?: "2025-11-25" | "2026-07-28";
}

export async function connectApp(
  database: TestDatabase,
  { userId, organizationId }: Books,
  {
    clock,
    guardedFetch = () => Promise.reject(new Error("this test fetches nothing")),
    capabilities = {},
    revision = "2026-07-28",
  }: Options,
): Promise<ConnectedApp> {
  const token = `exp_at_${crypto.randomUUID().replaceAll("-", "").padEnd(43, "a")}`;
  const clientId = `client_${crypto.randomUUID()}`;
  const [grant] = await database.query<{ id: string }>(
    `with c as (
       insert into oauth.clients (client_id, client_name, redirect_uris, created_at, granted_at)
       values ($1, 'Assistant', '{https://app.example/callback}', '2026-01-01', '2026-01-01') returning client_id
     ), g as (
       insert into oauth.grants (client_id, user_id, organization_id, redirect_uri, resource, created_at, expires_at)
       select client_id, $2, $3, 'https://app.example/callback', $4, '2026-01-01', '2030-01-01' from c returning id
     )
     insert into oauth.tokens (token_hash, kind, grant_id, issued_at, expires_at)
     select decode($5, 'hex'), 'access', id, '2026-01-01', '2030-01-01' from g returning grant_id as id`,
    [clientId, userId, organizationId, `${SITE}/api/mcp`, hashToken(token)],
  );
  const app = createMcpApp({
    config: readConfig({
      NEXT_PUBLIC_SITE_URL: SITE,
      SUPABASE_URL: "https://project.supabase.co",
      OAUTH_CODE_SECRET: "code-secret-code-secret-code-secret-1",
      CREDENTIALS_KEY,
      RATE_LIMITS: "off",
    }, []),
    database: { call: (name, args) => database.asService(name, args) },
    clock,
    log: createLog(() => {}),
    fetch: () => Promise.reject(new Error("this test fetches nothing")),
    guardedFetch,
  });
  return {
    grantId: grant!.id,
    async ask(method, params = {}) {
      const _meta = {
        ...(revision === "2026-07-28" && { "io.modelcontextprotocol/protocolVersion": revision }),
        "io.modelcontextprotocol/clientCapabilities": capabilities,
      };
      const response = await app.request(`${SITE}/api/mcp`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          accept: "application/json, text/event-stream",
          "content-type": "application/json",
          "mcp-protocol-version": revision,
          "mcp-method": method,
          ...(typeof params.name === "string" && { "mcp-name": params.name }),
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
      });
      const text = await response.text();
      const message = JSON.parse(/^data: (.+)$/m.exec(text)?.[1] ?? text);
      return message.result ?? message.error;
    },
  };
}
