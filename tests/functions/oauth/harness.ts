/** The authorization server over a real database and a fake identity provider, and a client that drives it. */
import { Buffer } from "node:buffer";
import { decode } from "hono/jwt";
import { createOAuthApp } from "../../../functions/oauth/app.ts";
import { type Config, readConfig } from "../../../shared/config.ts";
import type { Database } from "../../../shared/db/client.ts";
import { createLog } from "../../../shared/log.ts";
import type { GuardedAnswer, GuardedRequest } from "../../../shared/net/guarded_fetch.ts";
import type { TestDatabase } from "../../_support/database.ts";

export const SITE = "https://expenses.example";
export const RESOURCE = `${SITE}/api/mcp`;
export const START = new Date("2026-11-20T10:00:00Z");
export const CALLBACK = "http://localhost:54123/callback";
// RFC 7636 appendix B.
export const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
export const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

export interface Person {
  id: string;
  email: string;
}

export type Fields = Record<string, string | undefined>;
// deno-lint-ignore no-explicit-any -- answers are inspected field by field
export type Json = any;

export type Harness = ReturnType<typeof createHarness>;

/** `calls` receives the name of every successful database call. @param config overrides */
export function createHarness(database: Database, config: Partial<Config> = {}) {
  const calls: string[] = [];
  const log: string[] = [];
  const clock = { now: START };
  /**
   * `users`: the provider's data about a person besides id and address. It never refreshes a session, and counts
   * lookups.
   */
  const identityProvider = { isDown: false, users: new Map<string, Record<string, unknown>>(), refreshes: 0 };
  const fetched: GuardedRequest[] = [];
  const publish = {
    answer: (_url: string): Promise<GuardedAnswer> => Promise.resolve({ ok: false, reason: "unresolvable" }),
  };
  const app = createOAuthApp({
    config: {
      ...readConfig({
        NEXT_PUBLIC_SITE_URL: SITE,
        SUPABASE_URL: "https://ref.supabase.example",
        SUPABASE_PUBLISHABLE_KEYS: "sb_publishable_test",
        OAUTH_CODE_SECRET: "a-secret-of-more-than-thirty-two-bytes",
      }, []),
      ...config,
    },
    database: {
      call: (name, args) => database.call(name, args).finally(() => calls.push(name)),
    },
    clock: () => clock.now,
    log: createLog((line) => log.push(line)),
    fetch: (input, init) => {
      if (identityProvider.isDown) return Promise.resolve(new Response("down", { status: 503 }));
      const path = new URL(input instanceof Request ? input.url : input).pathname;
      const bearer = new Headers(init?.headers).get("authorization")?.slice("Bearer ".length);
      if (path === "/auth/v1/logout") return Promise.resolve(new Response(null, { status: 204 }));
      if (path === "/auth/v1/token") {
        identityProvider.refreshes++;
        return Promise.resolve(Response.json({ error_code: "refresh_token_not_found" }, { status: 400 }));
      }
      if (path !== "/auth/v1/user" || !bearer) throw new Error(`unexpected ${path}`);
      const { sub: id, email } = decode(bearer).payload;
      const user = { id, email, ...identityProvider.users.get(String(id)) };
      return Promise.resolve(Response.json(user));
    },
    guardedFetch: (request) => {
      fetched.push(request);
      return publish.answer(request.url);
    },
  });

  const request = async (path: string, init: RequestInit = {}) => await app.request(new URL(path, SITE).href, init);
  const form = (fields: Fields) =>
    new URLSearchParams(Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined));

  return {
    app,
    calls,
    log,
    clock,
    identityProvider,
    /** The fetched metadata URLs. */
    fetched,
    /** The served documents; none at first. */
    publish,
    request,
    later: (seconds: number) => void (clock.now = new Date(clock.now.getTime() + seconds * 1000)),

    /** A browser page with `person` signed in. */
    get: (path: string, person: Person | null, headers: Record<string, string> = {}) =>
      request(path, { headers: { ...headers, ...(person && { cookie: sessionOf(person) }) } }),

    /** Submits a consent page as a browser does. */
    decide: (page: string, fields: Fields, person: Person | null, headers: Record<string, string> = {}) =>
      request("/api/oauth/authorize", {
        method: "POST",
        body: form({ consent: consentOf(page), access: "write", ...fields }),
        headers: {
          origin: "null",
          "sec-fetch-site": "same-origin",
          ...(person && { cookie: sessionOf(person) }),
          ...headers,
        },
      }),

    post: (endpoint: "token" | "revoke", fields: Fields) =>
      request(`/api/oauth/${endpoint}`, { method: "POST", body: form(fields) }),

    register: (metadata: unknown) =>
      request("/api/oauth/register", {
        method: "POST",
        body: JSON.stringify(metadata),
        headers: { "content-type": "application/json" },
      }),
  };
}

/** A test's database in the functions' form. */
export const over = (database: TestDatabase): Database => ({
  call: (name, args) => database.asService(name, args),
});

/** A person who owns an organization on each given plan, in that order. */
export async function createPerson(
  database: TestDatabase,
  email: string,
  plans: readonly ("free" | "pro" | "team")[],
): Promise<Person & { organizations: string[] }> {
  const id = crypto.randomUUID();
  const organizations = plans.map((plan) => `org_${plan}${id.slice(0, 8)}`);
  await database.query("insert into auth.users (id, email) values ($1, $2)", [id, email]);
  await database.query("insert into identity.profiles (user_id, email, country) values ($1, $2, 'NL')", [id, email]);
  for (const [index, organization] of organizations.entries()) {
    await database.query(
      "insert into identity.organizations (id, name, base_currency, plan, owner_id) values ($1, $2, 'EUR', $3, $4)",
      [organization, `${plans[index]} of ${email}`, plans[index], id],
    );
    await database.query(
      "insert into identity.memberships (organization_id, user_id, role, created_at) values ($1, $2, 'owner', $3)",
      [organization, id, new Date(START.getTime() + index)],
    );
  }
  return { id, email, organizations };
}

/**
 * A session cookie in the format of the identity provider's client library, valid in real time. @param method the
 * sign-in method
 */
export function sessionOf({ id, email }: Person, method = "otp"): string {
  const claims = { sub: id, email, amr: [{ method, timestamp: 0 }] };
  const session = {
    access_token:
      [{ alg: "HS256" }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".") +
      ".c2ln",
    refresh_token: "r",
    token_type: "bearer",
    expires_in: 3600,
    expires_at: Math.floor(Date.now() / 1000) + 3600,
    user: { id, email },
  };
  return `__Host-session=base64-${Buffer.from(JSON.stringify(session)).toString("base64url")}`;
}

/** The signed token in a consent page. */
export const consentOf = (page: string): string => /name="consent" value="([^"]+)"/.exec(page)?.[1] ?? "";

/** The parameters in a redirect to the client. */
export function answerOf(response: Response): Record<string, string> {
  return Object.fromEntries(new URL(response.headers.get("location")!).searchParams);
}

export function authorizationQuery(clientId: string, more: Fields = {}): string {
  const query = { client_id: clientId, redirect_uri: CALLBACK, code_challenge: CHALLENGE, state: "xyz", ...more };
  const sent = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return `/api/oauth/authorize?${new URLSearchParams(sent)}`;
}

/** A registered client's id. */
export async function registerClient(harness: Harness, metadata: Record<string, unknown> = {}): Promise<string> {
  const response = await harness.register({ client_name: "Tester", redirect_uris: [CALLBACK], ...metadata });
  return (await response.json()).client_id;
}

/** Goes through consent and returns the code. */
export async function obtainCode(
  harness: Harness,
  { clientId, person, organizationId, access = "write" }: {
    clientId: string;
    person: Person & { organizations: string[] };
    organizationId?: string;
    access?: "read" | "write";
  },
): Promise<string> {
  const page = await (await harness.get(authorizationQuery(clientId), person)).text();
  const fields = { action: "approve", organization_id: organizationId ?? person.organizations[0], access };
  return answerOf(await harness.decide(page, fields, person)).code!;
}

export const exchangeFields = (clientId: string, code: string, more: Fields = {}): Fields => ({
  grant_type: "authorization_code",
  client_id: clientId,
  code,
  code_verifier: VERIFIER,
  redirect_uri: CALLBACK,
  ...more,
});

export const refreshFields = (clientId: string, refreshToken: string, more: Fields = {}): Fields => ({
  grant_type: "refresh_token",
  client_id: clientId,
  refresh_token: refreshToken,
  ...more,
});

export interface Tokens {
  access_token: string;
  refresh_token: string;
  expires_in: number;
}

/** The whole flow: a connected client's tokens. */
export async function connect(
  harness: Harness,
  options: Parameters<typeof obtainCode>[1],
): Promise<Tokens> {
  const code = await obtainCode(harness, options);
  const response = await harness.post("token", exchangeFields(options.clientId, code));
  if (response.status !== 200) throw new Error(`code exchange: ${response.status} ${await response.text()}`);
  return await response.json();
}

/** The connector's SQL verdict on an access token: `ok` or `invalid_token`. */
export async function outcomeOf(
  database: TestDatabase,
  accessToken: string,
  at: Date,
  resource = RESOURCE,
): Promise<string> {
  const [row] = await database.query<{ outcome: string }>(
    "select outcome from oauth.resolve_access_token(sha256(convert_to($1, 'UTF8')), $2, $3)",
    [accessToken, resource, at],
  );
  return row!.outcome;
}
