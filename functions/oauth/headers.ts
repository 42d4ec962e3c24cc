/** Headers of every response of this function, and CORS for all responses except pages. */
import type { MiddlewareHandler } from "hono";
import type { AppContext, AppEnv } from "../../shared/http/app.ts";

/** Other sites must not read or frame the pages of signed-in people. */
export const isPage = (c: AppContext): boolean => c.req.path === PAGE;
export const PAGE = "/api/oauth/authorize";

export const headers: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  const { headers } = c.res;
  // Codes travel in URLs, so our URLs must reach neither other sites, as referrers, nor search engines. Pages set
  // these headers themselves.
  if (!headers.has("referrer-policy")) headers.set("referrer-policy", "no-referrer");
  headers.set("x-robots-tag", "noindex");
  headers.set("x-content-type-options", "nosniff");
  if (isPage(c)) {
    headers.set("cross-origin-opener-policy", "same-origin");
  } else {
    headers.set("access-control-allow-origin", "*");
    headers.set("access-control-expose-headers", "WWW-Authenticate, Retry-After, X-Request-Id");
  }
};

/**
 * Responds to a preflight. The official client sends `MCP-Protocol-Version` on discovery, others more (Fetch §4.9: `*`
 * would not cover Authorization).
 */
export function preflight(c: AppContext, methods: string): Response {
  return c.body(null, 204, {
    "access-control-allow-methods": methods,
    "access-control-allow-headers": "Authorization, Content-Type, Accept, MCP-Protocol-Version, X-Requested-With",
    "access-control-max-age": "86400",
  });
}
