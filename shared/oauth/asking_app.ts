/**
 * The app that sent somebody to sign in, which the login page names. The return path contains the signed name, because
 * an unsigned link could put any words on our page. The authorization endpoint looks the client up again.
 */
import { readToken, signToken } from "../signed_token.ts";
import { shownClientName } from "./client_name.ts";

const LABEL = "asking-app/v1";
const PARAMETER = "asked_by";
/** The same lifetime as a mailed link. */
const LIFETIME_MS = 3600_000;

/** @param path of an authorization request. */
export async function withAskingApp(
  secrets: readonly string[],
  path: string,
  { name, at }: { name: string; at: Date },
): Promise<string> {
  const expiresAt = new Date(at.getTime() + LIFETIME_MS);
  const token = await signToken(secrets, LABEL, { claims: { name: shownClientName(name) }, expiresAt });
  return `${path}&${PARAMETER}=${token}`;
}

/** The app's self-given name; null if the path contains no signed name. */
export async function readAskingApp(
  secrets: readonly string[],
  path: string | undefined,
  at: Date,
): Promise<string | null> {
  const token = path && new URLSearchParams(path.split("?")[1]).get(PARAMETER);
  const claims = token ? await readToken(secrets, LABEL, { token, at }) : null;
  return claims ? String(claims.name) : null;
}
