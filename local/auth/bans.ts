/** Banned users. The identity provider checks for a ban before it checks a password or code, and at every refresh. */
import type { SqlDatabase } from "../database/sql.ts";

/** One of the ways to identify a user. */
export type Named = { id: string } | { email: string } | { refreshToken: string };

const CONDITIONS = {
  id: "id = $1",
  email: "lower(email) = lower($1) and deleted_at is null",
  refreshToken: "id in (select user_id from auth.refresh_tokens where token = $1)",
};

/** Whether a user is currently banned; false for an unknown user. */
export async function isBanned(database: SqlDatabase, user: Named): Promise<boolean> {
  const [by, value] = Object.entries(user)[0] as [keyof typeof CONDITIONS, string];
  const banned = await database.query(
    `select from auth.users where banned_until > now() and ${CONDITIONS[by]}`,
    [value],
  );
  return banned.length > 0;
}

/** @param token a verified access token. */
export async function sessionProblem(
  database: SqlDatabase,
  { userId, sessionId }: { userId: string; sessionId: string },
): Promise<"user_banned" | "session_not_found" | undefined> {
  if (await isBanned(database, { id: userId })) return "user_banned";
  const sessions = await database.query("select from auth.sessions where id = $1", [sessionId]);
  return sessions.length === 0 ? "session_not_found" : undefined;
}
