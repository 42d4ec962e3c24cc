/**
 * Identifies the signed-in person by the identity provider's session in HttpOnly cookies. Only this module calls the
 * identity provider. It never trusts an unverified cookie and never retries a refresh, because a refused refresh ends
 * the session.
 */
import type { SupabaseClient } from "@supabase/supabase-js";
import { decode } from "hono/jwt";
import { parse, serialize } from "hono/utils/cookie";
import type { Config } from "../config.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { isOurSignIn, type SessionClaims } from "./sign_in_method.ts";
import type { AppContext } from "./app.ts";
import { type Attempt, claimAttempt } from "./attempts.ts";
import { tooManyAttempts } from "./quotas.ts";

export interface SignedInUser {
  id: string;
  email: string;
}

type SessionDeps = Pick<Deps, "config" | "database" | "fetch" | "clock">;
type Auth = SupabaseClient["auth"];

const DEADLINE_MS = 3_000;
/** A session lasts while it is used, and ends after a month without a visit. */
const SESSION_SECONDS = 30 * 24 * 3600;
/** A verifier is useful only while its link or sign-in is valid. */
const VERIFIER_SECONDS = 3600;
const VERIFIER = "-code-verifier";
const MAX_WAIT_SECONDS = 3600;

/**
 * The `__Host-` prefix pins the cookie to this host and to TLS; browsers reject it over http, which only loopback uses.
 */
export const sessionCookie = (config: Pick<Config, "siteUrl">) =>
  config.siteUrl.startsWith("https:") ? "__Host-session" : "session";

/**
 * The signed-in user, or null. Refreshes an expired session and sends the new cookies with the response. If a session
 * began with an unsupported sign-in method, ends it here and at the identity provider; a suspended person's session
 * ends only in this browser.
 * @throws {AppError} `unavailable` when the identity provider does not respond within 3 s (cookies are kept);
 * `suspended`.
 */
export async function readSession(c: AppContext, deps: SessionDeps): Promise<SignedInUser | null> {
  if (!hasSession(c, deps.config)) return null;
  const { user, accessToken, error } = await askIdentityProvider(c, deps, fetchVerifiedUser);
  if (isSuspension(error) || (user?.banned_until && new Date(user.banned_until) > deps.clock())) {
    forgetSession(c, deps);
    throw suspended();
  }
  if (!user?.email || !accessToken) return null;
  if (user.deleted_at || !isOurSession(accessToken, deps.config)) {
    await signOut(c, deps);
    return null;
  }
  return { id: user.id, email: user.email };
}

/** Whether this service accepts a session that the identity provider has just issued or verified. */
export const isOurSession = (accessToken: string, { authProviders }: Pick<Config, "authProviders">): boolean =>
  isOurSignIn(decode(accessToken).payload as SessionClaims, authProviders);

/**
 * Whether the identity provider refused somebody because of a ban. At sign-in the identity provider checks this before
 * the code.
 */
export const isSuspension = (error: { code?: string | undefined } | null): boolean => error?.code === "user_banned";

export const suspended = () => new AppError("suspended", "this account is suspended");

// getUser() makes the identity provider verify the token before its claims are read; the cookie's claims alone prove
// nothing.
async function fetchVerifiedUser(auth: Auth) {
  const { data: { session }, error } = await auth.getSession();
  if (!session) return { user: null, accessToken: undefined, error };
  const answer = await auth.getUser(session.access_token);
  return { user: answer.data.user, accessToken: session.access_token, error: answer.error };
}

/**
 * Whether this browser has a session cookie, valid or not: enough to choose a link's target, but not to show any data.
 */
export function hasSession(c: AppContext, config: Pick<Config, "siteUrl">): boolean {
  const name = sessionCookie(config);
  const cookies = parse(c.req.header("cookie") ?? "");
  return name in cookies || `${name}.0` in cookies;
}

/** Ends the session here and at the identity provider; if the provider is unreachable, at least here. */
export async function signOut(c: AppContext, deps: SessionDeps): Promise<void> {
  await askIdentityProvider(c, deps, (auth) => auth.signOut({ scope: "local" })).catch(() => undefined);
  forgetSession(c, deps);
}

/** Ends all sessions of a person, on every device. @throws {AppError} `unavailable` when they can't be ended. */
export async function signOutEverywhere(c: AppContext, deps: SessionDeps): Promise<void> {
  await askIdentityProvider(c, deps, (auth) => auth.signOut({ scope: "global" }));
  forgetSession(c, deps);
}

function forgetSession(c: AppContext, deps: SessionDeps): void {
  // The session, its chunks, the verifiers of pending sign-ins, and the cookies that a refresh has set in this request.
  const own = new RegExp(`^${sessionCookie(deps.config)}([.=-]|$)`);
  c.set("cookies", c.get("cookies").filter((cookie) => !own.test(cookie)));
  const ours = Object.keys(parse(c.req.header("cookie") ?? "")).filter((cookie) => own.test(cookie));
  for (const cookie of ours) addCookie(c, deps, cookie, "", 0);
}

/**
 * Signs somebody in without a mail, by a one-time token that the privileged key gets from the identity provider. The
 * caller has identified the person.
 * @param who.type `invite` only creates an account, and returns undefined if the address has one.
 * @throws {AppError} `unavailable`, `rate_limited`.
 */
export async function signInWithoutMail(
  c: AppContext,
  deps: SessionDeps,
  { email, type }: { email: string; type: "magiclink" | "invite" },
) {
  const { supabaseUrl, serviceRoleKey: key } = deps.config;
  const response = await deps.fetch(`${supabaseUrl}/auth/v1/admin/generate_link`, {
    method: "POST",
    headers: { apikey: key, authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ type, email }),
    signal: AbortSignal.timeout(DEADLINE_MS),
  }).catch(() => undefined);
  const { hashed_token: token } = response?.ok ? await response.json() as { hashed_token?: string } : {};
  if (!token) {
    if (type === "invite" && response?.status === 422) {
      const { error_code: code } = await response.json().catch(() => ({})) as { error_code?: string };
      if (code === "email_exists") return undefined;
    }
    if (!response?.bodyUsed) await response?.body?.cancel();
    throw new AppError("unavailable", "the identity provider made no link", {
      says: ({ signInServiceDown }) => signInServiceDown,
      cause: new Error(`generate_link: ${response?.status ?? "no answer"}`),
      headers: { "retry-after": "30" },
    });
  }
  return await askIdentityProvider(c, deps, (auth) => auth.verifyOtp({ token_hash: token, type }));
}

/** Deletes the verifiers of all other pending sign-ins after a successful one. */
export function clearVerifiers(c: AppContext, deps: SessionDeps): void {
  const isVerifier = (cookie: string) =>
    cookie.startsWith(`${sessionCookie(deps.config)}-`) && cookie.endsWith(VERIFIER);
  c.set("cookies", c.get("cookies").filter((line) => !isVerifier(line.split("=", 1)[0]!)));
  const ours = Object.keys(parse(c.req.header("cookie") ?? "")).filter(isVerifier);
  for (const cookie of ours) addCookie(c, deps, cookie, "", 0);
}

/**
 * One call to the identity provider. Its cookies are added to our response, even a raw `Response`. Refusals are
 * returned as `error`. Calls that the provider limits by IP address first count per caller, once, and only if the
 * provider is really called.
 * @throws {AppError} `unavailable` on an outage or timeout, `rate_limited` on 429 or by our own limits; cookies are
 * kept.
 */
export async function askIdentityProvider<
  Answer extends { error: { status?: number | undefined; code?: string | undefined; message?: string } | null },
>(
  c: AppContext,
  deps: SessionDeps,
  ask: (auth: Auth) => Promise<Answer>,
  deadlineMs = DEADLINE_MS,
): Promise<Answer> {
  const deadline = AbortSignal.timeout(deadlineMs);
  const changes: { name: string; value: string; maxAge: number | undefined }[] = [];
  const request = parse(c.req.header("cookie") ?? "");
  let retryAfter: string | null = null;
  let claimed: Promise<void> | undefined;
  let refusal: unknown;
  // Loads on the first request with a session, because it is large and most requests to a new instance have none.
  const { createServerClient } = await import("@supabase/ssr");
  const { auth }: { auth: Auth } = createServerClient(deps.config.supabaseUrl, deps.config.publishableKey, {
    cookieOptions: { name: sessionCookie(deps.config) },
    cookies: {
      getAll: () => Object.entries(request).map(([name, value]) => ({ name, value })),
      setAll: (list) =>
        list.forEach(({ name, value, options }) => changes.push({ name, value, maxAge: options.maxAge })),
    },
    // The client retries a failed refresh for 25 s; the signal aborts a hung request at our own deadline.
    global: {
      fetch: async (input, init) => {
        const { body } = (init ?? {}) as { body?: unknown };
        const attempt = attemptOf(new URL(input instanceof Request ? input.url : input), body);
        if (attempt) {
          try {
            await (claimed ??= claimAttempt(c, deps, attempt));
          } catch (error) {
            refusal = error;
            // The client neither retries this response nor mistakes it for the end of a valid session.
            return Response.json({}, { status: 429 });
          }
        }
        const response = await deps.fetch(input, { ...init, signal: deadline });
        retryAfter = response.headers.get("retry-after");
        return response;
      },
    },
    // Allows up to five sign-ins at once; each removes its own verifier.
    auth: { experimental: { appendPkceFlowIdToRedirects: true } },
  });

  const answer = await Promise.race([ask(auth), expired(deadline)]);
  const status = answer?.error ? answer.error.status ?? 0 : 200;
  // The platform's gateway rejected our own key, so nobody can sign in. Its response has no code of the identity
  // provider.
  const isOurKey = status === 401 && !answer?.error?.code;
  if (!answer || status === 0 || status >= 500 || isOurKey) {
    throw new AppError("unavailable", "the identity provider does not answer", {
      says: ({ signInServiceDown }) => signInServiceDown,
      cause: answer?.error ?? new Error("identity provider: no answer in time"),
      headers: { "retry-after": "30" },
    });
  }
  if (status === 429) throw refusal ?? tooManyAttempts(secondsToWait(retryAfter, answer.error?.message));
  for (const { name, value, maxAge } of changes) addCookie(c, deps, name, value, maxAge);
  return answer;
}

/**
 * The kind of attempt behind a request, if the identity provider limits it by IP address. All requests come from the
 * functions' addresses, so one person could use up everybody's limit. The sign-in page counts typed codes itself.
 */
function attemptOf({ pathname, searchParams }: URL, body: unknown): Attempt | undefined {
  if (!/\/auth\/v1\/(token|verify)$/.test(pathname)) return undefined;
  const { refresh_token, auth_code, token_hash } = JSON.parse(String(body)) as Record<string, string | undefined>;
  if (searchParams.get("grant_type") === "refresh_token") {
    return { attempt: "session_refresh", subject: refresh_token ?? "" };
  }
  const secret = auth_code ?? token_hash;
  return secret === undefined ? undefined : { attempt: "login_link", subject: secret };
}

/**
 * Seconds to wait: from the header (RFC 9110 §10.2.3), or from Supabase Auth's message ("… only request this after 42
 * seconds."), otherwise a minute.
 */
function secondsToWait(header: string | null, message = ""): number {
  const said = Number(header?.trim() || /\bafter (\d+) seconds?\b/.exec(message)?.[1] || NaN);
  return said >= 0 ? Math.min(Math.max(Math.ceil(said), 1), MAX_WAIT_SECONDS) : 60;
}

const expired = (deadline: AbortSignal) =>
  new Promise<undefined>((resolve) => deadline.addEventListener("abort", () => resolve(undefined)));

function addCookie(c: AppContext, { config }: SessionDeps, name: string, value: string, maxAge?: number): void {
  const lifetime = name.endsWith(VERIFIER) ? VERIFIER_SECONDS : SESSION_SECONDS;
  c.get("cookies").push(serialize(name, value, {
    path: "/",
    httpOnly: true,
    secure: config.siteUrl.startsWith("https:"),
    sameSite: "Lax",
    maxAge: maxAge === 0 ? 0 : lifetime,
  }));
}
