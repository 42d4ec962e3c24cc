/**
 * CORS of the connector, on every response including errors: a browser client that cannot read a 401 cannot sign in.
 * It allows any origin and no credentials; a separate check refuses origins.
 */
import type { MiddlewareHandler } from "hono";
import type { AppContext, AppEnv } from "../../shared/http/app.ts";

/** `*` would not cover Authorization (Fetch §4.9). */
const ALLOWED_HEADERS = [
  "Authorization",
  "Content-Type",
  "Accept",
  "MCP-Protocol-Version",
  "Mcp-Session-Id",
  "Mcp-Method",
  "Mcp-Name",
  "Last-Event-ID",
  "X-Requested-With",
];

const EXPOSED_HEADERS = "WWW-Authenticate, Mcp-Session-Id, MCP-Protocol-Version, Retry-After, X-Request-Id";

export const cors: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  const { headers } = c.res;
  headers.set("access-control-allow-origin", "*");
  headers.set("access-control-expose-headers", EXPOSED_HEADERS);
};

/** Answers a preflight, which carries no credentials and must not require any. */
export function preflight(c: AppContext, methods: string): Response {
  return c.body(null, 204, {
    "access-control-allow-methods": methods,
    "access-control-allow-headers": [...ALLOWED_HEADERS, ...requestedParameters(c)].join(", "),
    "access-control-max-age": "86400",
    "vary": "Access-Control-Request-Headers",
  });
}

/**
 * `Mcp-Param-*` headers mirror tool arguments (MCP 2026-07-28). Their names depend on the tool, so the preflight
 * allows the requested ones.
 */
function requestedParameters(c: AppContext): string[] {
  const requested = c.req.header("access-control-request-headers") ?? "";
  return requested.split(",").map((name) => name.trim()).filter((name) => /^mcp-param-[\w-]{1,64}$/i.test(name));
}
