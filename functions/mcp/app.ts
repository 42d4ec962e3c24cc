/** Routes of the connector: an endpoint and a protected-resource document at each of its two addresses. */
import type { MiddlewareHandler } from "hono";
import { errorResponse } from "../../shared/connector/json_rpc.ts";
import { isAllowedOrigin } from "../../shared/connector/origin.ts";
import { createConnectorStore } from "../../shared/db/connector_store.ts";
import type { Deps } from "../../shared/deps.ts";
import { AppError } from "../../shared/errors.ts";
import { type App, type AppEnv, createApp, type RenderError } from "../../shared/http/app.ts";
import { PROVIDERS, type Registry } from "../../shared/providers/registry.ts";
import { createUrls } from "../../shared/urls.ts";
import { createAskProviders } from "./ask_providers.ts";
import { getCard } from "./card.ts";
import type { Connector } from "./connector.ts";
import { cors, preflight } from "./cors.ts";
import { postMessage } from "./message.ts";
import { protectedResource } from "./protected_resource.ts";
import { endSession } from "./session.ts";

const ENDPOINT_METHODS = "GET, HEAD, POST, DELETE, OPTIONS";
const DOCUMENT_METHODS = "GET, HEAD, OPTIONS";

/** Paths of the endpoint and its documents, as localPath() returns them. */
const FRONT = {
  endpoint: "/api/mcp",
  documents: ["/api/mcp/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/api/mcp"],
};
const DIRECT = { endpoint: "/", documents: ["/.well-known/oauth-protected-resource"] };

/** @param options.registry the providers; tests pass their own. */
export function createMcpApp(deps: Deps, { registry = PROVIDERS }: { registry?: Registry } = {}): App {
  const { config, database, clock, log } = deps;
  const urls = createUrls(config);
  const askProviders = createAskProviders(deps, registry);
  const store = createConnectorStore({ database, clock, resource: urls.resource });

  const app = createApp("mcp", deps, renderJsonRpcError);
  app.use(cors);

  for (const [paths, address] of [[FRONT, urls.front], [DIRECT, urls.direct]] as const) {
    const connector: Connector = {
      store,
      config,
      log,
      address,
      plansUrl: urls.plans,
      connectUrl: urls.connectProvider,
      askProviders,
    };
    app.use(paths.endpoint, refuseForeignOrigins);
    app.get(paths.endpoint, (c) => getCard(c, connector));
    app.post(paths.endpoint, (c) => postMessage(c, connector));
    app.delete(paths.endpoint, (c) => endSession(c, connector));
    app.options(paths.endpoint, (c) => preflight(c, ENDPOINT_METHODS));

    for (const path of paths.documents) {
      app.get(path, (c) => protectedResource(c, { resource: address.resource, issuer: urls.issuer }, config));
      app.options(path, (c) => preflight(c, DOCUMENT_METHODS));
    }
  }
  return app;
}

// The documents are public; only the endpoint checks the origin.
const refuseForeignOrigins: MiddlewareHandler<AppEnv> = async (c, next) => {
  if (!isAllowedOrigin(c.req.header("origin"))) throw new AppError("forbidden", "This origin is not allowed.");
  await next();
};

const renderJsonRpcError: RenderError = ({ status, message }, c) =>
  errorResponse({ status, message, ...(status >= 500 && { data: { request_id: c.get("requestId") } }) });
