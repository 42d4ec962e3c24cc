/**
 * The part of the identity provider's admin API that seeds, tests and the demo's button need: users, and links without
 * a mail.
 */
import type { DataServiceSettings } from "../data_service/settings.ts";
import type { SqlDatabase } from "../database/sql.ts";
import { emailExists, failure } from "./failure.ts";
import { createUser, issueToken } from "./one_time_tokens.ts";
import type { AuthSettings } from "./settings.ts";

export interface UserRow {
  id: string;
  email: string;
  phone: string | null;
  role: string;
  aud: string;
  raw_app_meta_data: object;
  raw_user_meta_data: object;
  email_confirmed_at: string | null;
  banned_until: string | null;
  deleted_at: string | null;
  last_sign_in_at: string | null;
  created_at: string;
  updated_at: string;
}

const notFound = () => failure(404, "user_not_found", "User not found");

export interface AdminOptions extends Pick<DataServiceSettings, "siteUrl" | "publicUrl"> {
  database: SqlDatabase;
  settings: AuthSettings;
}

/** @param path below `/auth/v1/admin`; the caller has checked the secret key. */
export async function handleAdmin(request: Request, path: string, options: AdminOptions): Promise<Response> {
  const { database } = options;
  const [, id] = /^\/users\/([0-9a-f-]{36})$/.exec(path) ?? [];
  switch (`${request.method} ${id ? "/users/:id" : path}`) {
    case "GET /users": {
      const users = await database.query<UserRow>("select * from auth.users order by created_at, id");
      return Response.json({ users: users.map(userOf), aud: "authenticated" });
    }
    case "POST /users":
      return await createByAdmin(request, database);
    case "GET /users/:id":
      return await answerWithUser(database, id!);
    case "PUT /users/:id":
      return await banByAdmin(request, database, id!);
    case "DELETE /users/:id":
      return await deleteByAdmin(request, database, id!);
    case "POST /generate_link":
      return await generateLink(request, options);
    default:
      return Response.json({ code: 404, msg: "Not embedded" }, { status: 404 });
  }
}

async function createByAdmin(request: Request, database: SqlDatabase): Promise<Response> {
  const body = await request.json();
  try {
    const id = await database.transaction((session) =>
      createUser(session, {
        id: body.id,
        email: String(body.email).toLowerCase(),
        password: body.password,
        confirmed: Boolean(body.email_confirm),
        userData: body.user_metadata,
        appData: body.app_metadata,
      })
    );
    return await answerWithUser(database, id);
  } catch (thrown) {
    if ((thrown as { code?: string }).code !== "23505") throw thrown;
    return emailExists();
  }
}

async function generateLink(request: Request, options: AdminOptions): Promise<Response> {
  const { database, settings } = options;
  const body = await request.json();
  if (body.type === "invite") {
    const [confirmed] = await database.query(
      "select from auth.users where lower(email) = lower($1) and email_confirmed_at is not null and deleted_at is null",
      [String(body.email)],
    );
    if (confirmed) return emailExists();
  }
  const token = await database.transaction((session) =>
    issueToken(session, settings, { email: String(body.email), createUser: true, userData: body.data })
  );
  const type = token!.kind === "magic_link" ? "magiclink" : body.type === "invite" ? "invite" : "signup";
  const redirectTo = new URL(request.url).searchParams.get("redirect_to") ?? options.siteUrl;
  const query = new URLSearchParams({ token: token!.hash, type, redirect_to: redirectTo });
  const [user] = await database.query<UserRow>("select * from auth.users where id = $1", [token!.userId]);
  return Response.json({
    ...userOf(user!),
    action_link: `${options.publicUrl}/auth/v1/verify?${query}`,
    email_otp: token!.digits,
    hashed_token: token!.hash,
    redirect_to: redirectTo,
    verification_type: type,
  });
}

async function answerWithUser(database: SqlDatabase, id: string): Promise<Response> {
  const [user] = await database.query<UserRow>("select * from auth.users where id = $1", [id]);
  return user ? Response.json(userOf(user)) : notFound();
}

/**
 * Supports only `ban_duration`: hours, minutes or seconds such as `24h`, or `none`. Sessions remain, but the ban
 * blocks them.
 */
async function banByAdmin(request: Request, database: SqlDatabase, id: string): Promise<Response> {
  const { ban_duration } = await request.json();
  const [, amount, unit] = /^(\d+)([hms])$/.exec(ban_duration) ?? [];
  if (ban_duration !== "none" && !amount) {
    return failure(400, "validation_failed", `invalid format for ban duration: ${ban_duration}`);
  }
  const seconds = amount ? Number(amount) * { h: 3600, m: 60, s: 1 }[unit as "h" | "m" | "s"] : null;
  await database.query("update auth.users set banned_until = now() + make_interval(secs => $2) where id = $1", [
    id,
    seconds,
  ]);
  return await answerWithUser(database, id);
}

/** With `should_soft_delete` the row remains, without data that identifies the person or allows sign-in. */
async function deleteByAdmin(request: Request, database: SqlDatabase, id: string): Promise<Response> {
  const { should_soft_delete } = await request.json().catch(() => ({}));
  const statements = should_soft_delete
    ? [
      `update auth.users set deleted_at = now(), email = encode(sha256(convert_to(id || email, 'UTF8')), 'hex'),
         encrypted_password = null, confirmation_token = null, recovery_token = null, raw_user_meta_data = '{}', raw_app_meta_data = '{}'
       where id = $1 returning id`,
      "delete from auth.sessions where user_id = $1",
      "delete from auth.identities where user_id = $1",
    ]
    : ["delete from auth.users where id = $1 returning id"];
  const [deleted] = await database.transaction(async (session) => {
    const answers = [];
    for (const statement of statements) answers.push(await session.query(statement, [id]));
    return answers;
  });
  return deleted!.length > 0 ? Response.json({}) : notFound();
}

export const userOf = (user: UserRow) => ({
  id: user.id,
  aud: user.aud,
  role: user.role,
  email: user.email,
  phone: user.phone ?? "",
  app_metadata: user.raw_app_meta_data,
  user_metadata: user.raw_user_meta_data,
  email_confirmed_at: user.email_confirmed_at ?? undefined,
  banned_until: user.banned_until ?? undefined,
  deleted_at: user.deleted_at ?? undefined,
  last_sign_in_at: user.last_sign_in_at ?? undefined,
  created_at: user.created_at,
  updated_at: user.updated_at,
  is_anonymous: false,
});
