/**
 * The address that a mailed link signs in. It is signed and added to the link, because only the identity provider can
 * read its token. The holder of the link can read mail to this address, so it reveals nothing. By itself it signs
 * nobody in.
 */
import type { Config } from "../../../shared/config.ts";
import { readToken, signToken } from "../../../shared/signed_token.ts";

const LABEL = "mailed-address/v1";
const PARAMETER = "for";
/** Same as the link. */
const LIFETIME_MS = 3600_000;

type Keys = Pick<Config, "codeSecrets">;

/** @param url the target of the link, with or without a query. */
export async function withMailedAddress(
  { codeSecrets }: Keys,
  url: string,
  { address, at }: { address: string; at: Date },
): Promise<string> {
  const expiresAt = new Date(at.getTime() + LIFETIME_MS);
  const token = await signToken(codeSecrets, LABEL, { claims: { address }, expiresAt });
  return `${url}${url.includes("?") ? "&" : "?"}${PARAMETER}=${token}`;
}

/** The address in a link; undefined unless we signed it recently. */
export async function readMailedAddress(
  { codeSecrets }: Keys,
  query: URLSearchParams,
  at: Date,
): Promise<string | undefined> {
  const claims = await readToken(codeSecrets, LABEL, { token: query.get(PARAMETER) ?? "", at });
  return claims ? String(claims.address) : undefined;
}
