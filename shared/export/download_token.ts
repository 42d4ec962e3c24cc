/**
 * The signed token in the link to a file of expenses: the person, the query, and an expiry of ten minutes. It grants
 * nothing by itself: the person must be signed in, and the download checks their rights again.
 */
import { readToken, signToken } from "../signed_token.ts";

const LABEL = "expense file";
const LIFETIME_MS = 10 * 60_000;

export interface Download {
  userId: string;
  organizationId: string;
  /** Arguments of list_expenses. */
  filter: Record<string, unknown>;
}

export async function signDownload(
  secrets: readonly string[],
  { userId, organizationId, filter, at }: Download & { at: Date },
): Promise<{ token: string; expiresAt: Date }> {
  const expiresAt = new Date(at.getTime() + LIFETIME_MS);
  const claims = { sub: userId, org: organizationId, filter };
  return { token: await signToken(secrets, LABEL, { claims, expiresAt }), expiresAt };
}

/** Null if it is forged or expired. */
export async function readDownload(
  secrets: readonly string[],
  asked: { token: string; at: Date },
): Promise<Download | null> {
  const claims = await readToken(secrets, LABEL, asked);
  return claims && {
    userId: String(claims.sub),
    organizationId: String(claims.org),
    filter: claims.filter as Record<string, unknown>,
  };
}
