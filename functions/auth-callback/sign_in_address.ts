/** The address that a browser is signing in with, kept in a cookie of its own so that the page survives a reload and no address travels in a URL. */
import { parse, serialize } from "hono/utils/cookie";
import type { AppContext } from "../../shared/http/app.ts";
import type { PageDeps } from "./page_deps.ts";

/** As long as the mailed link and code are good. */
const LIFETIME_SECONDS = 3600;

export function keepAddress(c: AppContext, deps: PageDeps, address: string): void {
  c.get("cookies").push(serialize(cookieName(deps), address, {
    path: "/",
    httpOnly: true,
    secure: isSecure(deps),
    sameSite: "Lax",
    maxAge: LIFETIME_SECONDS,
  }));
}

export const keptAddress = (c: AppContext, deps: PageDeps): string | undefined =>
  parse(c.req.header("cookie") ?? "", cookieName(deps))[cookieName(deps)];

const isSecure = ({ config }: PageDeps) => config.siteUrl.startsWith("https:");
const cookieName = (deps: PageDeps) => isSecure(deps) ? "__Host-sign-in" : "sign-in";
