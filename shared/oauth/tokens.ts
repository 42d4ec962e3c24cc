/**
 * Access and refresh tokens: their format, the stored digest, and the derivation of a refresh token's successor. The
 * client receives a token once; the database stores only its SHA-256.
 */
import { sha256 } from "../std/sha256.ts";
import { keyedHash } from "../signed_token.ts";

export interface TokenPair {
  accessToken: string;
  refreshToken: string;
}

// The prefix identifies the token for secret scanners, and shows us its kind.
const accessToken = (secret: string) => `exp_at_${secret}`;
const refreshToken = (secret: string) => `exp_rt_${secret}`;

/** Whether the text has the format of our access tokens: prefix and 256 bits of base64url. */
export const isAccessToken = (text: string): boolean => /^exp_at_[A-Za-z0-9_-]{43}$/.test(text);

/** Whether the text has the format of our refresh tokens. */
export const isRefreshToken = (text: string): boolean => /^exp_rt_[A-Za-z0-9_-]{43}$/.test(text);

/** A pair from two secrets of 256 random bits each, base64url. */
export function tokenPair(secrets: readonly [access: string, refresh: string]): TokenPair {
  return { accessToken: accessToken(secrets[0]), refreshToken: refreshToken(secrets[1]) };
}

/**
 * The pair that replaces a refresh token. It is derived from the token and a key, so a retry with the same token gets
 * the same pair, although it isn't stored. A token belongs to one grant and one generation.
 */
export async function successorOf(presented: string, codeSecret: string): Promise<TokenPair> {
  const derive = (label: string) => keyedHash([codeSecret], label, presented);
  return tokenPair([await derive("oauth-successor-access/v1"), await derive("oauth-successor-refresh/v1")]);
}

/** Lower-case hex SHA-256. */
export const hashToken = (token: string): string => sha256(token).toString("hex");
