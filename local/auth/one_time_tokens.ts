/**
 * The one-time tokens behind mailed links and six-digit codes, stored where the identity provider stores them: in
 * columns of `auth.users`, as the hash of address and code. Tokens of a PKCE sign-in have the prefix `pkce_`.
 */
import { createHash, randomInt } from "node:crypto";
import type { Session } from "../database/sql.ts";
import type { AuthSettings, SignInKind } from "./settings.ts";

export interface CodeChallenge {
  challenge: string;
  /** `s256` or `plain`. */
  method: string;
}

export interface IssuedToken {
  userId: string;
  email: string;
  /** `confirmation` when the address is not confirmed yet, otherwise `magic_link`. */
  kind: SignInKind;
  hash: string;
  digits: string;
}

/** The types that `verifyOtp` and mailed links may use for a token, by its column. */
const COLUMNS: Record<string, SignInKind[]> = {
  email: ["confirmation", "magic_link"],
  signup: ["confirmation"],
  invite: ["confirmation"],
  magiclink: ["magic_link"],
  recovery: ["magic_link"],
};
const COLUMN: Record<SignInKind, string> = { confirmation: "confirmation", magic_link: "recovery" };

export const ADDRESS = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

export const tokenHash = (email: string, digits: string) =>
  createHash("sha224").update(email.toLowerCase() + digits).digest("hex");

/** @param isPkce whether a verifier is required to exchange the link; its hash then has the prefix */
export function newToken(settings: AuthSettings, email: string, isPkce: boolean): { digits: string; hash: string } {
  const digits = String(randomInt(10 ** settings.otpLength)).padStart(settings.otpLength, "0");
  return { digits, hash: (isPkce ? "pkce_" : "") + tokenHash(email, digits) };
}

/**
 * Creates a token for an address and, if it is new, the user. Returns undefined if the address is new but sign-up is
 * not allowed. Stores the password only for a new user; it remains valid when the address is confirmed.
 */
export async function issueToken(
  session: Session,
  settings: AuthSettings,
  request: { email: string; createUser: boolean; password?: string; userData?: object; pkce?: CodeChallenge },
): Promise<IssuedToken | undefined> {
  const email = request.email.toLowerCase();
  const find = () =>
    session.query<{ id: string; email_confirmed_at: string | null }>(
      "select id, email_confirmed_at from auth.users where lower(email) = $1 and deleted_at is null",
      [email],
    );
  let [user] = await find();
  if (!user && request.createUser) {
    await createUser(session, { email, password: request.password, userData: request.userData });
    [user] = await find();
  }
  if (!user) return undefined;

  const kind: SignInKind = user.email_confirmed_at ? "magic_link" : "confirmation";
  const { digits, hash } = newToken(settings, email, request.pkce !== undefined);
  await session.query(
    `update auth.users set ${COLUMN[kind]}_token = $2, ${COLUMN[kind]}_sent_at = now() where id = $1`,
    [user.id, hash],
  );
  if (request.pkce) {
    await session.query(
      `insert into auth.flow_state
         (id, user_id, auth_code, code_challenge, code_challenge_method, provider_type, authentication_method)
       values (gen_random_uuid(), $1, gen_random_uuid()::text, $2, $3, 'email', $4)`,
      [user.id, request.pkce.challenge, request.pkce.method, kind === "confirmation" ? "email/signup" : "magiclink"],
    );
  }
  return { userId: user.id, email, kind, hash, digits };
}

/** Inserts a user as the identity provider does; the admin API may set `confirmedAt` and `password`. */
export async function createUser(
  session: Session,
  user: { email: string; id?: string; password?: string; confirmed?: boolean; userData?: object; appData?: object },
): Promise<string> {
  const id = user.id ?? crypto.randomUUID();
  const identity = { sub: id, email: user.email, email_verified: user.confirmed ?? false, phone_verified: false };
  await session.query(
    `insert into auth.users
       (id, instance_id, aud, role, email, encrypted_password, email_confirmed_at, raw_app_meta_data, raw_user_meta_data)
     values ($1, '00000000-0000-0000-0000-000000000000', 'authenticated', 'authenticated', $2,
       extensions.crypt($3, extensions.gen_salt('bf')), case when $4::boolean then now() end, $5::jsonb, $6::jsonb)`,
    [
      id,
      user.email,
      user.password ?? null,
      user.confirmed ?? false,
      JSON.stringify({ provider: "email", providers: ["email"], ...user.appData }),
      JSON.stringify({ ...identity, ...user.userData }),
    ],
  );
  await session.query(
    `insert into auth.identities (id, provider, provider_id, user_id, identity_data)
     values (gen_random_uuid(), 'email', $1::text, $1::uuid, $2::jsonb)`,
    [id, JSON.stringify(identity)],
  );
  return id;
}

/** The user with an unexpired token among `hashes`, valid for `type`; undefined when there is none. */
export async function findToken(
  session: Session,
  settings: AuthSettings,
  { type, hashes }: { type: string; hashes: string[] },
): Promise<{ userId: string; kind: SignInKind; hash: string } | undefined> {
  for (const kind of COLUMNS[type] ?? []) {
    const [found] = await session.query<{ id: string; hash: string }>(
      `select id, ${COLUMN[kind]}_token as hash from auth.users
       where ${COLUMN[kind]}_token = any ($1::text[]) and ${COLUMN[kind]}_sent_at > now() - make_interval(secs => $2)`,
      [hashes, settings.otpExpirySeconds],
    );
    if (found) return { userId: found.id, kind, hash: found.hash };
  }
  return undefined;
}

/** Consumes a PKCE token, confirms the address and returns the code that the PKCE flow can exchange. */
export async function consumeIntoCode(
  session: Session,
  token: { userId: string; kind: SignInKind; hash: string },
): Promise<string | undefined> {
  const column = `${COLUMN[token.kind]}_token`;
  const used = await session.query(
    `update auth.users set ${column} = null, email_confirmed_at = coalesce(email_confirmed_at, now()),
       raw_user_meta_data = raw_user_meta_data || '{"email_verified": true}'
     where id = $1 and ${column} = $2 returning id`,
    [token.userId, token.hash],
  );
  if (used.length === 0) return undefined;
  await session.query(
    `update auth.identities set identity_data = identity_data || '{"email_verified": true}' where user_id = $1 and provider = 'email'`,
    [token.userId],
  );
  // Set created_at to now, because lite counts the code's five minutes from it.
  const [flow] = await session.query<{ auth_code: string }>(
    `update auth.flow_state set auth_code_issued_at = now(), created_at = now()
     where id = (select id from auth.flow_state where user_id = $1 and code_challenge is not null order by created_at desc limit 1)
     returning auth_code`,
    [token.userId],
  );
  return flow?.auth_code;
}
