/**
 * Changes of a sign-in address, confirmed at both addresses (`double_confirm_changes`), as in Supabase Auth 2.190. The
 * first used link returns a message; the second one changes the address and starts a session.
 */
import type { Session } from "../database/sql.ts";
import { newToken } from "./one_time_tokens.ts";
import type { AuthSettings } from "./settings.ts";

export interface ChangeMail {
  to: string;
  hash: string;
  digits: string;
}

/**
 * @returns the mails to both addresses; undefined if the new one has an account. A new request replaces the previous
 * one.
 */
export async function requestAddressChange(
  session: Session,
  settings: AuthSettings,
  { userId, from, to, isPkce }: { userId: string; from: string; to: string; isPkce: boolean },
): Promise<ChangeMail[] | undefined> {
  if (await isTaken(session, to)) return undefined;
  const mails: ChangeMail[] = [from, to].map((address) => ({ to: address, ...newToken(settings, address, isPkce) }));
  await session.query(
    `update auth.users set email_change = $2, email_change_token_current = $3, email_change_token_new = $4,
       email_change_sent_at = now(), email_change_confirm_status = 0 where id = $1`,
    [userId, to, mails[0]!.hash, mails[1]!.hash],
  );
  return mails;
}

/** @param hash of either link @returns the link's address, and whether both addresses have now confirmed */
export async function confirmAddressChange(
  session: Session,
  settings: AuthSettings,
  hash: string,
): Promise<{ userId: string; isChanged: boolean } | "email_exists" | undefined> {
  if (!hash) return undefined;
  const [user] = await session.query<{ id: string; email_change: string; is_second: boolean }>(
    `select id, email_change, email_change_confirm_status = 1 as is_second from auth.users
     where $1 in (email_change_token_current, email_change_token_new) and deleted_at is null
       and email_change_sent_at > now() - make_interval(secs => $2) for update`,
    [hash, settings.otpExpirySeconds],
  );
  if (!user) return undefined;
  if (!user.is_second) {
    await session.query(
      `update auth.users set email_change_confirm_status = 1,
         email_change_token_current = case when email_change_token_current <> $2 then email_change_token_current else '' end,
         email_change_token_new = case when email_change_token_new <> $2 then email_change_token_new else '' end
       where id = $1`,
      [user.id, hash],
    );
    return { userId: user.id, isChanged: false };
  }
  if (await isTaken(session, user.email_change)) return "email_exists";
  const [email, known] = [user.email_change, JSON.stringify({ email: user.email_change })];
  await session.query(
    `update auth.users set email = $2, raw_user_meta_data = raw_user_meta_data || $3::jsonb, email_change = '',
       email_change_token_current = '', email_change_token_new = '', email_change_confirm_status = 0 where id = $1`,
    [user.id, email, known],
  );
  await session.query(
    "update auth.identities set identity_data = identity_data || $2::jsonb where user_id = $1 and provider = 'email'",
    [user.id, known],
  );
  return { userId: user.id, isChanged: true };
}

async function isTaken(session: Session, email: string): Promise<boolean> {
  const taken = await session.query("select from auth.users where lower(email) = $1 and deleted_at is null", [email]);
  return taken.length > 0;
}
