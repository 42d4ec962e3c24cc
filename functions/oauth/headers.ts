/** Headers of every response of this function, and CORS on all but the pages. */
import type { MiddlewareHandler } from "hono";
import type { AppContext, AppEnv } from "../../shared/http/app.ts";

/** Pages of signed-in people must not be read or framed by other sites. */
export const isPage = (c: AppContext): boolean => c.req.path === "/api/oauth/authorize";

export const headers: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  // Codes travel in URLs, so our URLs must not reach other sites as referrers, or search engines. Pages set this
  // themselves.
  if (!c.res.headers.has("referrer-policy")) c.header("referrer-policy", "no-referrer");
  c.header("x-robots-tag", "noindex");
  c.header("x-content-type-options", "nosniff");
  if (isPage(c)) {
    c.header("cross-origin-opener-policy", "same-origin");
  } else {
    c.header("access-control-allow-origin", "*");
    c.header("access-control-expose-headers", "WWW-Authenticate, Retry-After, X-Request-Id");
  }
};

/**
 * Answers a preflight. The official client sends `MCP-Protocol-Version` on discovery, others more (Fetch §4.9: `*`
 * would not cover Authorization).
 */
export function preflight(c: AppContext, methods: string): Response {
  return c.body(null, 204, {
    "access-control-allow-methods": methods,
    "access-control-allow-headers": "Authorization, Content-Type, Accept, MCP-Protocol-Version, X-Requested-With",
    "access-control-max-age": "86400",
  });
}
