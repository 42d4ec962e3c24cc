/**
 * Which app sent somebody to sign in: the login page says it, so that nobody wonders why they are there. The name travels in the path that they
 * come back to, signed, since a link that anybody can write must not put words on our page. The authorization endpoint looks the client up anew.
 */
import { readToken, signToken } from "../signed_token.ts";
import { shownClientName } from "./client_name.ts";

const LABEL = "asking-app/v1";
const PARAMETER = "asked_by";
/** As long as a mailed link is good. */
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

/** The name that the app gives itself; null when the path says none that we signed. */
export async function readAskingApp(
  secrets: readonly string[],
  path: string | undefined,
  at: Date,
): Promise<string | null> {
  const token = path && new URLSearchParams(path.split("?")[1]).get(PARAMETER);
  const claims = token ? await readToken(secrets, LABEL, { token, at }) : null;
  return claims ? String(claims.name) : null;
}
