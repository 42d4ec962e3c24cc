/**
 * Access for a directory's reviewer: an organization with the demo's books, and a code for signing in without a
 * mailbox.
 */
import { sha256 } from "../../shared/std/sha256.ts";
import type { SqlDatabase } from "../database/sql.ts";

/** The maximum that the database allows (identity.reviewers). */
export const LONGEST_DAYS = 60;

const SEED = new URL("../../supabase/seed.sql", import.meta.url);
const DEMO = "\n-- The demo itself\n";
const NAME = "Garden Street household";

export class ReviewerError extends Error {
  override readonly name = "ReviewerError";
}

export interface Access {
  organizationId: string;
  email: string;
  /** Shown once; the database keeps its hash. */
  code: string;
  expiresAt: Date;
}

export interface Listed {
  email: string;
  organization_id: string;
  expires_at: string;
  revoked_at: string | null;
  sign_ins: number;
  last_sign_in_at: string | null;
}

/**
 * @param database as its owner.
 * @throws {ReviewerError} when the address has an account.
 */
export async function createReviewer(
  database: SqlDatabase,
  { email, days, at }: { email: string; days: number; at: Date },
): Promise<Access> {
  const [helpers] = (await Deno.readTextFile(SEED)).split(DEMO) as [string];
  const mark = [...crypto.getRandomValues(new Uint8Array(4))].map((byte) => (byte % 16).toString(16)).join("");
  const [userId, memberId] = [crypto.randomUUID(), crypto.randomUUID()];
  const organizationId = `org_review${mark}${crypto.randomUUID().slice(0, 8)}`;
  const code = randomCode();
  const expiresAt = new Date(at.getTime() + days * 86_400_000);
  await database.transaction(async (session) => {
    const taken = await session.query("select from auth.users where email = $1", [email]);
    if (taken.length > 0) throw new ReviewerError(`${email} has an account already. Use another address.`);
    await session.exec(helpers);
    await session.query(
      "select pg_temp.add_rates((date_trunc('month', now()) - interval '18 months')::date, current_date)",
    );
    await session.query("select pg_temp.add_household($1, $2, $3, $4, $5, $6, $7)", [
      organizationId,
      NAME,
      mark,
      userId,
      email,
      memberId,
      `member-${mark}@review.invalid`,
    ]);
    await session.query("select pg_temp.drop_rates()");
    // Nobody reads these mailboxes.
    await session.query("update identity.profiles set email_enabled = false where user_id in ($1, $2)", [
      userId,
      memberId,
    ]);
    await session.query(
      `insert into identity.reviewers (user_id, organization_id, code_hash, created_at, expires_at)
       values ($1, $2, decode($3, 'hex'), $4, $5)`,
      [userId, organizationId, sha256(code).toString("hex"), at.toISOString(), expiresAt.toISOString()],
    );
    await session.query("select identity.record_event('review.created', null, $1, '{}', $2)", [
      organizationId,
      at.toISOString(),
    ]);
  });
  return { organizationId, email, code: code.match(/.{1,5}/g)!.join("-"), expiresAt };
}

/**
 * Ends the access immediately. The purge deletes the organization and its people after the usual grace period.
 * @throws {ReviewerError} when the address does not belong to a reviewer.
 */
export async function revokeReviewer(database: SqlDatabase, email: string, at: Date): Promise<void> {
  await database.transaction(async (session) => {
    const revoked = await session.query(
      `update identity.reviewers as r set revoked_at = coalesce(r.revoked_at, $2) from identity.profiles as p
       where p.user_id = r.user_id and p.email = $1 returning r.user_id`,
      [email, at.toISOString()],
    );
    if (revoked.length === 0) throw new ReviewerError(`${email} is no reviewer.`);
    await session.query("select jobs.end_reviews($1)", [at.toISOString()]);
  });
}

export async function listReviewers(database: SqlDatabase): Promise<Listed[]> {
  return await database.query<Listed>(
    `select p.email, r.organization_id, r.expires_at::text, r.revoked_at::text, count(e.id)::int as sign_ins,
       max(e.at)::text as last_sign_in_at
     from identity.reviewers as r
     join identity.profiles as p on p.user_id = r.user_id
     left join identity.audit_events as e on e.actor_id = r.user_id and e.event = 'review.signed_in'
     group by p.email, r.user_id order by r.created_at`,
  );
}

/** 130 bits in base 32. */
const randomCode = (): string =>
  [...crypto.getRandomValues(new Uint8Array(26))].map((byte) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[byte % 32]).join("");
