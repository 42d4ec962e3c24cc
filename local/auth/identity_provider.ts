/**
 * The identity provider in front of lite's `/auth/v1`. Sign-in mails with their links and codes, sign-up with a
 * password, bans and the access token hook behave as in Supabase Auth 2.190; lite handles sessions, refresh, user and
 * logout. It uses real time, whatever the stack's clock shows, and does not limit mails.
 */
import { decode } from "hono/jwt";
import type { DataServiceSettings } from "../data_service/settings.ts";
import type { SqlDatabase } from "../database/sql.ts";
import { confirmAddressChange } from "./address_change.ts";
import { handleAdmin, userOf, type UserRow } from "./admin.ts";
import { isBanned, sessionProblem } from "./bans.ts";
import { renderMail } from "./mail_template.ts";
import {
  ADDRESS,
  type CodeChallenge,
  consumeIntoCode,
  findToken,
  type IssuedToken,
  issueToken,
  tokenHash,
} from "./one_time_tokens.ts";
import { changeUser } from "./change_user.ts";
import { emailExists, failure, malformedAddress, userBanned } from "./failure.ts";
import { endOtherSessions } from "./other_sessions.ts";
import { finishSession } from "./session_claims.ts";
import type { AuthSettings } from "./settings.ts";

export interface IdentityProviderOptions
  extends Pick<DataServiceSettings, "siteUrl" | "publicUrl" | "jwtSecret" | "publishableKey" | "secretKey"> {
  database: SqlDatabase;
  settings: AuthSettings;
  /** Whether it serves only the functions, and refuses passwords, sign-up and administration. */
  isHardened?: boolean;
  sendMail(mail: { to: string; subject: string; html: string; text: string }): Promise<void>;
  /** lite's response to a request. */
  passOn(request: Request): Promise<Response>;
}

export type Handler = (request: Request) => Promise<Response>;

/** Handles every request below `/auth/v1`. */
export function createIdentityProvider(options: IdentityProviderOptions): Handler {
  const { database, settings, passOn } = options;

  return async (request) => {
    const url = new URL(request.url);
    const path = url.pathname.slice("/auth/v1".length);
    if (options.isHardened && !await isAskedByPages(request, url, path)) {
      return failure(404, "not_offered", "This service signs people in by mail only");
    }
    if (path.startsWith("/admin/")) {
      if (!carriesKey(request, [options.secretKey])) {
        return failure(401, "no_authorization", "This endpoint requires a valid Bearer token");
      }
      return await handleAdmin(request, path.slice("/admin".length), options);
    }
    // The gateway requires a project key, except from browsers that follow a link.
    if (request.method === "POST" && !carriesKey(request, [options.publishableKey, options.secretKey])) {
      return Response.json({ message: "No API key found in request", hint: "Send it in the header apikey." }, {
        status: 401,
      });
    }
    switch (`${request.method} ${path}`) {
      case "POST /otp":
      case "POST /magiclink":
        return await sendSignInMail(request, url);
      case "GET /verify":
        return await followLink(request, url);
      case "POST /verify":
        return await verifyToken(request);
      case "POST /signup":
        return await signUp(request, url);
      case "POST /token":
        return await exchange(request, url.searchParams.get("grant_type") ?? "");
      case "GET /user":
        return await readUser(request);
      case "PUT /user":
        return await changeUser(request, { ...options, readUser, allowedRedirect });
      case "POST /logout":
        return url.searchParams.get("scope") === "others"
          ? await endOtherSessions(request, { database, readUser })
          : await passOn(request);
      default:
        return await passOn(request);
    }
  };

  async function sendSignInMail(request: Request, url: URL): Promise<Response> {
    const body = await request.json().catch(() => ({}));
    const email = String(body.email ?? "").trim().toLowerCase();
    if (!ADDRESS.test(email)) return malformedAddress();
    const pkce: CodeChallenge | undefined = body.code_challenge
      ? { challenge: body.code_challenge, method: String(body.code_challenge_method ?? "plain").toLowerCase() }
      : undefined;
    const token = await database.transaction((session) =>
      issueToken(session, settings, { email, createUser: body.create_user !== false, userData: body.data, pkce })
    );
    if (!token) return failure(422, "otp_disabled", "Signups not allowed for otp");
    await mailToken(token, url);
    return Response.json({});
  }

  async function mailToken(token: IssuedToken, url: URL): Promise<void> {
    const mail = renderMail(settings.templates[token.kind], {
      SiteURL: options.siteUrl,
      RedirectTo: allowedRedirect(url.searchParams.get("redirect_to")),
      TokenHash: token.hash,
      Token: token.digits,
      Email: token.email,
    });
    await options.sendMail({ to: token.email, ...mail });
  }

  // Sign-up does not verify the address: it stores the password and mails the owner of the address. A second sign-up
  // changes nothing, and the response does not reveal whether an account exists.
  async function signUp(request: Request, url: URL): Promise<Response> {
    const { email: given, password, data } = await request.json().catch(() => ({}));
    const email = String(given ?? "").trim().toLowerCase();
    if (!email) return failure(422, "anonymous_provider_disabled", "Anonymous sign-ins are disabled");
    if (!password) return failure(400, "validation_failed", "Signup requires a valid password");
    if (String(password).length < 6) return failure(422, "weak_password", "Password should be at least 6 characters.");
    const find = () =>
      database.query<UserRow>("select * from auth.users where email = $1 and deleted_at is null", [email]);
    const [known] = await find();
    if (known?.email_confirmed_at) {
      const { id: _, email_confirmed_at: __, last_sign_in_at: ___, ...shown } = userOf(known);
      return Response.json({ ...shown, id: crypto.randomUUID(), identities: [], user_metadata: data ?? {} });
    }
    const token = await database.transaction((session) =>
      issueToken(session, settings, { email, createUser: true, password: String(password), userData: data })
    );
    await mailToken(token!, url);
    const [user] = await find();
    return Response.json(userOf(user!));
  }

  async function exchange(request: Request, grantType: string): Promise<Response> {
    const body = await request.clone().json().catch(() => ({}));
    switch (grantType) {
      case "password": {
        const email = String(body.email ?? "");
        if (await isBanned(database, { email })) return userBanned(400);
        return await answerSession(request, "password");
      }
      case "refresh_token": {
        const refreshToken = String(body.refresh_token ?? "");
        if (await isBanned(database, { refreshToken })) return userBanned(400, "Invalid Refresh Token: User Banned");
        return await answerSession(request, "token_refresh");
      }
      default: {
        const [flow] = await database.query<{ authentication_method: string }>(
          "select authentication_method from auth.flow_state where auth_code = $1",
          [String(body.auth_code ?? "")],
        );
        return await answerSession(request, flow?.authentication_method ?? "");
      }
    }
  }

  async function readUser(request: Request): Promise<Response> {
    const response = await passOn(request);
    if (!response.ok) return response;
    const { payload } = decode(request.headers.get("authorization")!.replace(/^Bearer /i, ""));
    const problem = await sessionProblem(database, {
      userId: String(payload.sub),
      sessionId: String(payload.session_id),
    });
    if (!problem) return response;
    return problem === "user_banned"
      ? userBanned()
      : failure(403, problem, "Session from session_id claim in JWT does not exist");
  }

  async function confirmChange(request: Request, hash: string): Promise<Response> {
    const confirmed = await database.transaction((session) => confirmAddressChange(session, settings, hash));
    if (!confirmed) return failure(403, "otp_expired", INVALID_LINK);
    if (confirmed === "email_exists") return emailExists();
    if (!confirmed.isChanged) {
      return Response.json({
        code: "200",
        msg: "Confirmation link accepted. Please proceed to confirm link sent to the other email",
      });
    }
    if (await isBanned(database, { id: confirmed.userId })) return userBanned();
    // lite starts the session with its own token.
    const token = crypto.randomUUID();
    await database.query("update auth.users set recovery_token = $2, recovery_sent_at = now() where id = $1", [
      confirmed.userId,
      token,
    ]);
    return await answerSession(withBody(request, { type: "magiclink", token_hash: token }), "otp");
  }

  async function followLink(request: Request, url: URL): Promise<Response> {
    const target = new URL(allowedRedirect(url.searchParams.get("redirect_to")));
    const type = url.searchParams.get("type") ?? "";
    const hash = url.searchParams.get("token") ?? "";
    const token = await findToken(database, settings, { type, hashes: [hash] });
    if (!token) return redirect(withError(target));
    if (await isBanned(database, { id: token.userId })) {
      return redirect(withError(target, { error_code: "user_banned", error_description: "User is banned" }));
    }
    if (hash.startsWith("pkce_")) {
      const code = await database.transaction((session) => consumeIntoCode(session, token));
      if (!code) return redirect(withError(target));
      target.searchParams.set("code", code);
      return redirect(target);
    }
    url.searchParams.set("type", liteType(token.kind));
    url.searchParams.set("redirect_to", target.href);
    return await passOn(new Request(url, { headers: request.headers, redirect: "manual" }));
  }

  async function verifyToken(request: Request): Promise<Response> {
    const body = await request.json().catch(() => ({}));
    if (body.type === "email_change") return await confirmChange(request, String(body.token_hash ?? ""));
    const digest = body.token_hash ? undefined : tokenHash(String(body.email ?? ""), String(body.token ?? ""));
    // The ban is checked before the code.
    if (digest && await isBanned(database, { email: String(body.email ?? "") })) return userBanned();
    const hashes = digest ? [digest, `pkce_${digest}`] : [String(body.token_hash)];
    const token = await findToken(database, settings, { type: String(body.type ?? ""), hashes });
    if (!token) return failure(403, "otp_expired", digest ? "Token has expired or is invalid" : INVALID_LINK);
    if (await isBanned(database, { id: token.userId })) return userBanned();
    return await answerSession(withBody(request, { type: liteType(token.kind), token_hash: token.hash }), "otp");
  }

  /** @param method how the session starts, as in the claim `amr`; `token_refresh` when it continues. */
  async function answerSession(request: Request, method: string): Promise<Response> {
    const response = await passOn(request);
    if (!response.ok) return response;
    const finished = await finishSession(await response.json(), {
      database,
      issuer: `${options.publicUrl}/auth/v1`,
      jwtSecret: options.jwtSecret,
      hook: settings.accessTokenHook,
      method,
    });
    return "refusal" in finished
      ? failure(finished.refusal.http_code, "unknown", finished.refusal.message)
      : Response.json(finished.answer, { status: response.status });
  }

  // Silently replaces unknown redirect URLs, like the real provider.
  function allowedRedirect(place: string | null): string {
    const isOurs = place && URL.canParse(place) && new URL(place).origin === options.siteUrl;
    return isOurs ? place : options.siteUrl;
  }
}

const INVALID_LINK = "Email link is invalid or has expired";

/** lite's token type for a column. */
const liteType = (kind: "confirmation" | "magic_link") => kind === "confirmation" ? "signup" : "magiclink";

const redirect = (target: URL) => new Response(null, { status: 303, headers: { location: target.href } });

// Like the real provider: in the query for servers, in the fragment for scripts.
function withError(
  target: URL,
  reason = { error_code: "otp_expired", error_description: INVALID_LINK },
): URL {
  const error = { error: "access_denied", ...reason };
  for (const [name, value] of Object.entries(error)) target.searchParams.set(name, value);
  target.hash = `${new URLSearchParams({ ...error, sb: "" })}`;
  return target;
}

function withBody(request: Request, body: unknown): Request {
  const headers = new Headers(request.headers);
  headers.delete("content-length");
  return new Request(request.url, { method: request.method, headers, body: JSON.stringify(body) });
}

function carriesKey(request: Request, keys: string[]): boolean {
  const given = request.headers.get("apikey") ?? request.headers.get("authorization")?.replace(/^Bearer /, "");
  return given !== undefined && keys.includes(given);
}

/**
 * The requests that our pages send to the identity provider (shared/http/session.ts). In production it serves no
 * others.
 */
const ASKED = [
  "POST /otp",
  "POST /verify",
  "POST /token",
  "GET /user",
  "PUT /user",
  "POST /logout",
  "POST /admin/generate_link",
];

async function isAskedByPages(request: Request, { searchParams }: URL, path: string): Promise<boolean> {
  if (!ASKED.includes(`${request.method} ${path}`)) return false;
  if (path === "/token") return ["pkce", "refresh_token"].includes(searchParams.get("grant_type") ?? "");
  // The pages can change only the address; nobody could use a password.
  if (request.method === "PUT") return !("password" in await request.clone().json().catch(() => ({})));
  return true;
}
