/**
 * Which address a mailed link signs in, said in the link and signed by us, since the token in it says it to the identity provider only. It comes
 * back in the mail to that very address, so whoever holds the statement can read that mail; nobody is signed in by it.
 */
import type { Config } from "../../../shared/config.ts";
import { readToken, signToken } from "../../../shared/signed_token.ts";

const LABEL = "mailed-address/v1";
const PARAMETER = "for";
/** As long as the link is good. */
const LIFETIME_MS = 3600_000;

type Keys = Pick<Config, "codeSecrets">;

/** @param url where the link leads, with a query or without. */
export async function withMailedAddress(
  { codeSecrets }: Keys,
  url: string,
  { address, at }: { address: string; at: Date },
): Promise<string> {
  const expiresAt = new Date(at.getTime() + LIFETIME_MS);
  const token = await signToken(codeSecrets, LABEL, { claims: { address }, expiresAt });
  return `${url}${url.includes("?") ? "&" : "?"}${PARAMETER}=${token}`;
}

/** The address that a link says; undefined when it says none that we signed lately. */
export async function readMailedAddress(
  { codeSecrets }: Keys,
  query: URLSearchParams,
  at: Date,
): Promise<string | undefined> {
  const claims = await readToken(codeSecrets, LABEL, { token: query.get(PARAMETER) ?? "", at });
  return claims ? String(claims.address) : undefined;
}
