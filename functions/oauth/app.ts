/** Routes of the authorization server. */
import type { Deps } from "../../shared/deps.ts";
import { admission } from "../../shared/http/admission.ts";
import { type App, createApp } from "../../shared/http/app.ts";
import { ROUTES } from "../../shared/routes.ts";
import type { Languages } from "../../shared/words/page_words.ts";
import { renderError } from "./errors.ts";
import { headers, PAGE, preflight } from "./headers.ts";
import { health } from "./health.ts";
import { jwks, metadata } from "./metadata.ts";
import { register } from "./register.ts";
import { revoke } from "./revoke.ts";
import { createAuthorizationServer, type Endpoint } from "./server.ts";
import { token } from "./token.ts";

const DISCOVERY = ROUTES.filter(({ slug, path }) => slug === "oauth" && path.includes("/.well-known/"));

export function createOAuthApp(deps: Deps, languages?: Languages): App {
  const server = createAuthorizationServer(deps);
  const app = createApp("oauth", deps, renderError(deps.config));
  app.use(headers);
  app.use(PAGE, async (c, next) => (await import("../../shared/pages/reader.ts")).readers(languages)(c, next));
  app.use(admission(deps.config));

  const serve = (method: "GET" | "POST", path: string, endpoint: Endpoint) => {
    const methods = method === "GET" ? "GET, HEAD, OPTIONS" : "POST, OPTIONS";
    app.on(method, path, (c) => endpoint(c, server));
    app.options(path, (c) => preflight(c, methods));
  };

  for (const { path } of DISCOVERY) serve("GET", path, metadata);
  serve("GET", "/api/oauth/jwks", jwks);
  serve("GET", "/api/health", health);
  serve("POST", "/api/oauth/token", token);
  serve("POST", "/api/oauth/register", register);
  serve("POST", "/api/oauth/revoke", revoke);

  // No CORS here, because other sites must not read a signed-in person's pages. The pages load on first use, so the
  // token endpoint starts without them.
  app.get(PAGE, async (c) => (await import("./authorize.ts")).authorize(c, server));
  app.post(PAGE, async (c) => (await import("./consent.ts")).decideConsent(c, server));
  return app;
}
