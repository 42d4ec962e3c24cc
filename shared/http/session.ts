/**
 * Who is signed in, by the identity provider's own session in HttpOnly cookies. The only place that talks to the
 * identity provider. It never trusts an unverified cookie and never retries a refresh (a refused one ends the session).
 */
import { createServerClient } from "@supabase/ssr";
import type { SupabaseClient } from "@supabase/supabase-js";
import { decode } from "hono/jwt";
import { parse, serialize } from "hono/utils/cookie";
import type { Config } from "../config.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { isOurSignIn, type SessionClaims } from "./sign_in_method.ts";
import type { AppContext } from "./app.ts";
import { tooManyAttempts } from "./quotas.ts";

export interface SignedInUser {
  id: string;
  email: string;
}

type SessionDeps = Pick<Deps, "config" | "fetch">;
type ReadDeps = Pick<Deps, "config" | "fetch" | "clock">;
type Auth = SupabaseClient["auth"];

const DEADLINE_MS = 3_000;
/** A session lives as long as it is used; a month without a visit ends it. */
const SESSION_SECONDS = 30 * 24 * 3600;
/** A verifier is of use only as long as the link or sign-in it was made for. */
const VERIFIER_SECONDS = 3600;
const VERIFIER = "-code-verifier";
const LONGEST_WAIT_SECONDS = 3600;

/** The `__Host-` prefix pins the cookie to this host and to TLS; browsers refuse it over http, which only loopback uses. */
export const sessionCookie = (config: Pick<Config, "siteUrl">) =>
  config.siteUrl.startsWith("https:") ? "__Host-session" : "session";

/**
 * The signed-in user, or null. Refreshes an expired session; its new cookies leave with the answer. A session that did not begin in a way
 * that we offer ends here and at the identity provider; that of a suspended person ends in this browser.
 * @throws {AppError} `unavailable` when the identity provider does not answer within 3 s; cookies stay as they are. `suspended`.
 */
export async function readSession(c: AppContext, deps: ReadDeps): Promise<SignedInUser | null> {
  if (!hasSession(c, deps.config)) return null;
  const { user, accessToken, error } = await askIdentityProvider(c, deps, askWho);
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

/** Whether a session that the identity provider has just handed out or found good counts here. */
export const isOurSession = (accessToken: string, { authProviders }: Pick<Config, "authProviders">): boolean =>
  isOurSignIn(decode(accessToken).payload as SessionClaims, authProviders);

/** Whether the identity provider refused somebody because they are banned; at a sign-in it says so before it looks at six digits. */
export const isSuspension = (error: { code?: string | undefined } | null): boolean => error?.code === "user_banned";

export const suspended = () => new AppError("suspended", "this account is suspended");

// getUser() has the identity provider look at the very token whose claims are read afterwards; those of a cookie prove nothing.
async function askWho(auth: Auth) {
  const { data: { session }, error } = await auth.getSession();
  if (!session) return { user: null, accessToken: undefined, error };
  const answer = await auth.getUser(session.access_token);
  return { user: answer.data.user, accessToken: session.access_token, error: answer.error };
}

/** Whether this browser holds a session, good or not: enough to say where a link leads, never to show anything to anybody. */
export function hasSession(c: AppContext, config: Pick<Config, "siteUrl">): boolean {
  const name = sessionCookie(config);
  const cookies = parse(c.req.header("cookie") ?? "");
  return name in cookies || `${name}.0` in cookies;
}

/** Ends the session here and at the identity provider; when that cannot be reached, at least here. */
export async function signOut(c: AppContext, deps: SessionDeps): Promise<void> {
  await askIdentityProvider(c, deps, (auth) => auth.signOut({ scope: "local" })).catch(() => undefined);
  forgetSession(c, deps);
}

function forgetSession(c: AppContext, deps: SessionDeps): void {
  // The session, its further chunks, and the verifiers of sign-ins under way; also what a refresh has set in this very request.
  const own = new RegExp(`^${sessionCookie(deps.config)}([.=-]|$)`);
  c.set("cookies", c.get("cookies").filter((cookie) => !own.test(cookie)));
  const ours = Object.keys(parse(c.req.header("cookie") ?? "")).filter((cookie) => own.test(cookie));
  for (const cookie of ours) addCookie(c, deps, cookie, "", 0);
}

/** A sign-in has come through: the verifiers of the others under way here end with it. */
export function forgetVerifiers(c: AppContext, deps: SessionDeps): void {
  const isVerifier = (cookie: string) =>
    cookie.startsWith(`${sessionCookie(deps.config)}-`) && cookie.endsWith(VERIFIER);
  c.set("cookies", c.get("cookies").filter((line) => !isVerifier(line.split("=", 1)[0]!)));
  const ours = Object.keys(parse(c.req.header("cookie") ?? "")).filter(isVerifier);
  for (const cookie of ours) addCookie(c, deps, cookie, "", 0);
}

/**
 * One question to the identity provider. The cookies that its answer sets leave with ours, also when ours is a raw
 * `Response`. Refusals come back as `error`.
 * @throws {AppError} `unavailable` on an outage or past the deadline, `rate_limited` on 429; cookies stay as they are.
 */
export async function askIdentityProvider<
  Answer extends { error: { status?: number | undefined; message?: string } | null },
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
  const { auth }: { auth: Auth } = createServerClient(deps.config.supabaseUrl, deps.config.publishableKey, {
    cookieOptions: { name: sessionCookie(deps.config) },
    cookies: {
      getAll: () => Object.entries(request).map(([name, value]) => ({ name, value })),
      setAll: (list) =>
        list.forEach(({ name, value, options }) => changes.push({ name, value, maxAge: options.maxAge })),
    },
    // The client repeats a failed refresh for 25 s; with the signal a hung request ends with ours.
    global: {
      fetch: async (input, init) => {
        const response = await deps.fetch(input, { ...init, signal: deadline });
        retryAfter = response.headers.get("retry-after");
        return response;
      },
    },
    // Lets sign-ins be under way at once, five at most; each cleans up the verifier it started with.
    auth: { experimental: { appendPkceFlowIdToRedirects: true } },
  });

  const answer = await Promise.race([ask(auth), expired(deadline)]);
  const status = answer?.error ? answer.error.status ?? 0 : 200;
  if (!answer || status === 0 || status >= 500) {
    throw new AppError("unavailable", "the identity provider does not answer", {
      says: ({ signInServiceDown }) => signInServiceDown,
      cause: answer?.error ?? new Error("identity provider: no answer in time"),
      headers: { "retry-after": "30" },
    });
  }
  if (status === 429) {
    throw tooManyAttempts(secondsToWait(retryAfter, answer.error?.message));
  }
  for (const { name, value, maxAge } of changes) addCookie(c, deps, name, value, maxAge);
  return answer;
}

/** What the header says (RFC 9110 §10.2.3, seconds), else Supabase Auth's sentence ("… only request this after 42 seconds."), else a minute. */
function secondsToWait(header: string | null, message = ""): number {
  const said = Number(header?.trim() || /\bafter (\d+) seconds?\b/.exec(message)?.[1] || NaN);
  return said >= 0 ? Math.min(Math.max(Math.ceil(said), 1), LONGEST_WAIT_SECONDS) : 60;
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
