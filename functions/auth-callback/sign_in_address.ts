/** The address that a browser is signing in with, kept in a cookie of its own so that the page survives a reload and no address travels in a URL. */
import { parse, serialize } from "hono/utils/cookie";
import type { AppContext } from "../../shared/http/app.ts";
import type { PageDeps } from "./page_deps.ts";

/** As long as the mailed link and code are good. */
const LIFETIME_SECONDS = 3600;

export const keepAddress = (c: AppContext, deps: PageDeps, address: string): void =>
  setCookie(c, deps, address, LIFETIME_SECONDS);

/** Once signed in, the address has served its purpose. */
export function forgetAddress(c: AppContext, deps: PageDeps): void {
  if (keptAddress(c, deps) !== undefined) setCookie(c, deps, "", 0);
}

export const keptAddress = (c: AppContext, deps: PageDeps): string | undefined =>
  parse(c.req.header("cookie") ?? "", cookieName(deps))[cookieName(deps)];

function setCookie(c: AppContext, deps: PageDeps, value: string, maxAge: number): void {
  const secure = isSecure(deps);
  c.get("cookies").push(
    serialize(cookieName(deps), value, { path: "/", httpOnly: true, secure, sameSite: "Lax", maxAge }),
  );
}

const isSecure = ({ config }: PageDeps) => config.siteUrl.startsWith("https:");
const cookieName = (deps: PageDeps) => isSecure(deps) ? "__Host-sign-in" : "sign-in";
