/**
 * The old and new address of an address change, signed and added to the mailed links, because only the identity
 * provider can read its token. They only prefill the confirm page and grant nothing.
 */
import type { Config } from "../../../../shared/config.ts";
import { readToken, signToken } from "../../../../shared/signed_token.ts";

const LABEL = "changed-address/v1";
/** The same lifetime as the links. */
const LIFETIME_MS = 3600_000;

export interface Addresses {
  from: string;
  to: string;
}

type Keys = Pick<Config, "codeSecrets">;

/** The target of the links. It has a query, because the mail template appends a parameter to it. */
export async function confirmationUrl(
  { codeSecrets, siteUrl }: Keys & Pick<Config, "siteUrl">,
  { from, to }: Addresses,
  at: Date,
): Promise<string> {
  const expiresAt = new Date(at.getTime() + LIFETIME_MS);
  return `${siteUrl}/account/email/confirm?for=${await signToken(codeSecrets, LABEL, {
    claims: { from, to },
    expiresAt,
  })}`;
}

/** Undefined unless we signed them recently. */
export async function readAddresses({ codeSecrets }: Keys, token: string, at: Date): Promise<Addresses | undefined> {
  const claims = await readToken(codeSecrets, LABEL, { token, at });
  return claims ? { from: String(claims.from), to: String(claims.to) } : undefined;
}
