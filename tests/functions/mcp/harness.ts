/** The connector's app over a database whose results a test sets and whose calls it counts. */
import type { Config } from "../../../shared/config.ts";
import type { Database } from "../../../shared/db/client.ts";
import { createLog } from "../../../shared/log.ts";
import { createMcpApp } from "../../../functions/mcp/app.ts";

export const SITE = "https://expenses.example";
export const SUPABASE = "https://ref.supabase.example";
export const TOKEN = `exp_at_${"a".repeat(43)}`;
export const NOW = new Date("2026-10-06T09:00:00Z");

export const AUTHENTICATED = { outcome: "ok", organization: { id: "org_acme", name: "Acme" } };
export const NO_PLAN = {
  outcome: "feature_not_in_plan",
  plan: "free",
  required_plan: "pro",
  organization: { id: "org_acme", name: "Acme" },
};
export const ENVELOPE = {
  ok: true,
  context: { organization: { id: "org_acme", name: "Acme" }, today: "2026-10-06" },
  data: {},
};

type Answer = (args: Record<string, unknown>) => unknown;

export interface Call {
  name: string;
  args: Record<string, unknown>;
}

/** @param answers the results or errors of functions; by default a valid token, an empty envelope and no credentials */
export function startConnector(
  answers: Partial<Record<"authenticate_bearer" | "call_tool" | "read_provider_credentials" | "record_use", Answer>> =
    {},
  config: Partial<Config> = {},
  options: Parameters<typeof createMcpApp>[1] = {},
) {
  const calls: Call[] = [];
  const lines: string[] = [];
  const database: Database = {
    call: <Result>(name: string, args: Record<string, unknown>) => {
      calls.push({ name, args });
      const known: Record<string, Answer> = {
        authenticate_bearer: () => AUTHENTICATED,
        call_tool: () => ({ outcome: "ok", result: ENVELOPE }),
        read_provider_credentials: () => [],
        ...answers,
      };
      return Promise.resolve().then(() => known[name]!(args) as Result);
    },
  };
  const app = createMcpApp({
    config: { siteUrl: SITE, supabaseUrl: SUPABASE, rateLimits: "off", fileHosts: [], ...config } as Partial<
      Config
    > as Config,
    database,
    clock: () => NOW,
    log: createLog((line) => lines.push(line)),
    fetch: () => Promise.reject(new Error("the connector fetches nothing")),
    guardedFetch: () => Promise.reject(new Error("the connector fetches nothing")),
  }, options);

  const send = async (path: string, init: RequestInit) => await app.request(`${SITE}${path}`, init);
  const headers = (more: Record<string, string | undefined> = {}) =>
    Object.fromEntries(
      Object.entries({
        authorization: `Bearer ${TOKEN}`,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        ...more,
      }).filter(([, value]) => value !== undefined),
    ) as Record<string, string>;

  return {
    calls,
    lines,
    /** The app itself. */
    handle: (request: Request) => app.fetch(request),
    /** Sends a request unchanged, with a valid token unless the headers contain another one. */
    request: (method: string, options: { path?: string; headers?: Record<string, string | undefined> } = {}) =>
      send(options.path ?? "/api/mcp", { method, headers: headers(options.headers) }),
    /** Posts a body that arrives in pieces. */
    stream: (body: ReadableStream<Uint8Array>) => send("/api/mcp", { method: "POST", headers: headers(), body }),
    /** Posts a body: text unchanged, any other value as JSON. */
    post: (body: unknown, options: { path?: string; headers?: Record<string, string | undefined> } = {}) =>
      send(options.path ?? "/api/mcp", {
        method: "POST",
        headers: headers(options.headers),
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
  };
}

/** The protocol eras, with the form of a request in each. */
export const ERAS = {
  "2025-11-25": (method: string, params: Record<string, unknown> = {}) => ({
    body: { jsonrpc: "2.0", id: 7, method, params },
    headers: { "mcp-protocol-version": "2025-11-25" } as Record<string, string>,
  }),
  "2026-07-28": (method: string, params: Record<string, unknown> = {}) => ({
    body: {
      jsonrpc: "2.0",
      id: 7,
      method,
      params: {
        ...params,
        _meta: {
          ...params._meta as Record<string, unknown> | undefined,
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    },
    headers: {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof params.name === "string" && { "mcp-name": params.name }),
    } as Record<string, string>,
  }),
};

export type Era = keyof typeof ERAS;
export const ERA_NAMES = Object.keys(ERAS) as Era[];

// deno-lint-ignore no-explicit-any -- answers are inspected field by field
export type Json = any;

/** The JSON-RPC message of a response, which is JSON or an event stream with one event. */
export async function messageOf(response: Response): Promise<Json> {
  const text = await response.text();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  return JSON.parse(isStream ? /^data: (.+)$/m.exec(text)![1]! : text);
}
