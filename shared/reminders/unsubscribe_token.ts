/**
 * The signed token in unsubscribe links, which names the person. It authorizes for 90 days; afterwards the person must
 * sign in.
 */
import { openToken, signToken } from "../signed_token.ts";

const LABEL = "unsubscribe";
const LIFETIME_DAYS = 90;

/** @param mail.sentOn the recipient's date, YYYY-MM-DD. Not an instant, since a resent mail must be identical. */
export function signUnsubscribing(
  secrets: readonly string[],
  { userId, sentOn }: { userId: string; sentOn: string },
): Promise<string> {
  const expiresAt = new Date(Date.parse(sentOn) + LIFETIME_DAYS * 86_400_000);
  return signToken(secrets, LABEL, { claims: { sub: userId }, expiresAt });
}

export interface Unsubscribing {
  userId: string;
  isExpired: boolean;
}

/** Null unless the service issued the token. */
export async function readUnsubscribing(
  secrets: readonly string[],
  { token, at }: { token: string; at: Date },
): Promise<Unsubscribing | null> {
  const claims = await openToken(secrets, LABEL, token);
  return claims && { userId: String(claims.sub), isExpired: claims.exp * 1000 <= at.getTime() };
}

/** The target of an unsubscription: `all`, or the id of an organization or a bill. */
export type Scope = string;

export const isScope = (value: unknown): value is Scope =>
  typeof value === "string" && /^(all|(org|bill)_[0-9a-z]{8,32})$/.test(value);
