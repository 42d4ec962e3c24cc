/** The signed statement behind the unsubscribe links: whose reminders, and which of them. It never expires: an old mail must still be able to end new ones. */
import { openToken, signToken } from "../signed_token.ts";

const LABEL = "unsubscribe";
/** A token says when it ends; this one is not to. */
const NEVER = new Date("9999-12-31T00:00:00Z");

/** `all`, the id of an organization, or the id of a bill. */
export type Scope = string;

export interface Unsubscribing {
  ownerId: string;
  scope: Scope;
}

export const signUnsubscribing = (secrets: readonly string[], { ownerId, scope }: Unsubscribing): Promise<string> =>
  signToken(secrets, LABEL, { claims: { sub: ownerId, scope }, expiresAt: NEVER });

/** Null unless it is one of ours. */
export async function readUnsubscribing(secrets: readonly string[], token: string): Promise<Unsubscribing | null> {
  const claims = await openToken(secrets, LABEL, token);
  return claims && isScope(claims.scope) ? { ownerId: String(claims.sub), scope: claims.scope } : null;
}

export const isScope = (value: unknown): value is Scope =>
  typeof value === "string" && /^(all|(org|bill)_[0-9a-z]{8,32})$/.test(value);
