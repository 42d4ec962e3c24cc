/**
 * Access and refresh tokens: how they look, what is stored of them, and how the successor of a refresh token follows
 * from it. A value leaves once, in an answer; the database keeps its SHA-256 and nothing else.
 */
import { Buffer } from "node:buffer";
import { keyedHash } from "../signed_token.ts";

export interface TokenPair {
  accessToken: string;
  refreshToken: string;
}

// The prefix tells secret scanners what they found, and us which kind a token claims to be.
const accessToken = (secret: string) => `exp_at_${secret}`;
const refreshToken = (secret: string) => `exp_rt_${secret}`;

/** Whether the text can be an access token of ours: prefix and 256 bits of base64url. */
export const isAccessToken = (text: string): boolean => /^exp_at_[A-Za-z0-9_-]{43}$/.test(text);

/** Whether it can be a refresh token of ours. */
export const isRefreshToken = (text: string): boolean => /^exp_rt_[A-Za-z0-9_-]{43}$/.test(text);

/** A pair out of two secrets of 256 random bits each, base64url. */
export function tokenPair(secrets: readonly [access: string, refresh: string]): TokenPair {
  return { accessToken: accessToken(secrets[0]), refreshToken: refreshToken(secrets[1]) };
}

/**
 * The pair that a refresh token is exchanged for. Following from the token and a key, it can be given again to a retry
 * without being stored, and by nobody who does not present the token. (The token names its grant and generation, being
 * used in one only.)
 */
export async function successorOf(presented: string, codeSecret: string): Promise<TokenPair> {
  const derive = (label: string) => keyedHash([codeSecret], label, presented);
  return tokenPair([await derive("oauth-successor-access/v1"), await derive("oauth-successor-refresh/v1")]);
}

/** Lower-case hex SHA-256. */
export async function hashToken(token: string): Promise<string> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token))).toString("hex");
}
