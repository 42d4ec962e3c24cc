/**
 * The pending sign-in of a browser: the mailed address, and an id for counting typed codes. A cookie stores it,
 * because it must survive a reload and no URL may contain the address. The cookie is signed, so nobody can fake a
 * pending sign-in.
 */
import { parse, serialize } from "hono/utils/cookie";
import type { AppContext } from "../../../shared/http/app.ts";
import { readToken, signToken } from "../../../shared/signed_token.ts";
import type { OpenPageDeps } from "../page_guards.ts";

const LABEL = "sign-in/v1";
/** The same lifetime as the mailed link and code. */
const LIFETIME_SECONDS = 3600;

export interface WaitingSignIn {
  id: string;
  address: string;
}

/** Each mail starts a new sign-in. */
export async function storeSignIn(c: AppContext, deps: OpenPageDeps, address: string): Promise<void> {
  const claims = { id: crypto.randomUUID(), address };
  const expiresAt = new Date(deps.clock().getTime() + LIFETIME_SECONDS * 1000);
  setCookie(c, deps, { value: await signToken(deps.config.codeSecrets, LABEL, { claims, expiresAt }) });
}

/** Called after the sign-in. */
export function clearPendingSignIn(c: AppContext, deps: OpenPageDeps): void {
  if (cookieOf(c, deps) !== undefined) setCookie(c, deps, { value: "", maxAge: 0 });
}

/** Undefined if this browser started no sign-in within the hour. */
export async function readPendingSignIn(c: AppContext, deps: OpenPageDeps): Promise<WaitingSignIn | undefined> {
  const claims = await readToken(deps.config.codeSecrets, LABEL, {
    token: cookieOf(c, deps) ?? "",
    at: deps.clock(),
  });
  return claims ? { id: String(claims.id), address: String(claims.address) } : undefined;
}

const cookieOf = (c: AppContext, deps: OpenPageDeps): string | undefined =>
  parse(c.req.header("cookie") ?? "", cookieName(deps))[cookieName(deps)];

function setCookie(
  c: AppContext,
  deps: OpenPageDeps,
  { value, maxAge = LIFETIME_SECONDS }: { value: string; maxAge?: number },
): void {
  const secure = isSecure(deps);
  c.get("cookies").push(
    serialize(cookieName(deps), value, { path: "/", httpOnly: true, secure, sameSite: "Lax", maxAge }),
  );
}

const isSecure = ({ config }: OpenPageDeps) => config.siteUrl.startsWith("https:");
const cookieName = (deps: OpenPageDeps) => isSecure(deps) ? "__Host-sign-in" : "sign-in";
