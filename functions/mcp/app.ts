/** Routes of the connector: an endpoint and a protected-resource document at each of its two addresses. */
import type { MiddlewareHandler } from "hono";
import { isAllowedOrigin } from "../../shared/connector/origin.ts";
import { createConnectorStore } from "../../shared/db/connector_store.ts";
import type { Deps } from "../../shared/deps.ts";
import { AppError } from "../../shared/errors.ts";
import { signDownload } from "../../shared/export/download_token.ts";
import { admission } from "../../shared/http/admission.ts";
import { type App, type AppEnv, createApp } from "../../shared/http/app.ts";
import type { Registry } from "../../shared/providers/registry.ts";
import { createUrls } from "../../shared/urls.ts";
import { type Words, wordsOf } from "../../shared/words/words.ts";
import { callerOf } from "./authentication.ts";
import type { Connector } from "./connector.ts";
import { createMailProposal } from "./mail_proposal.ts";
import { cors, preflight } from "./cors.ts";
import { failureResponse } from "./failure_response.ts";
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

/** How many callers with unverified tokens are served at once. The other places stay free for verified ones. */
const UNPROVEN = 12;

interface Options {
  registry?: Registry;
  words?: Words;
}

/** @param options the providers and the language; tests pass their own. */
export function createMcpApp(deps: Deps, { registry, words = wordsOf("en") }: Options = {}): App {
  const { config, database, clock, log } = deps;
  const urls = createUrls(config);
  const askProviders: Connector["askProviders"] = async (...asked) =>
    (await import("./ask_providers.ts")).createAskProviders(deps, registry)(...asked);
  const fetchFile: Connector["fetchFile"] = async (...asked) =>
    (await import("./fetch_file.ts")).createFetchFile(deps, store)(...asked);
  const store = createConnectorStore({ database, clock, resource: urls.resource });

  const app = createApp("mcp", deps, (error, c) => failureResponse(error, c.get("requestId")));
  app.use(cors, admission(config, { limits: { unproven: UNPROVEN } }));

  for (const [paths, address] of [[FRONT, urls.front], [DIRECT, urls.direct]] as const) {
    const connector: Connector = {
      store,
      config,
      log,
      clock,
      words,
      address,
      plansUrl: urls.plans,
      membersUrl: urls.members,
      exportsUrl: urls.exports,
      accessUrl: urls.appAccess,
      deletionUrl: urls.deleteOrganization,
      connectUrl: urls.connectProvider,
      proposalUrl: urls.proposal,
      uploadUrl: urls.importUpload,
      documentUrl: urls.document,
      fileUrl: async (download) => {
        const { token, expiresAt } = await signDownload(config.codeSecrets, { ...download, at: clock() });
        return { csv_url: `${urls.expenseFile}?t=${token}`, expires_at: expiresAt.toISOString() };
      },
      mailProposal: createMailProposal(deps),
      askProviders,
      fetchFile,
      events: { ...deps, resource: urls.resource, words },
    };
    app.use(paths.endpoint, refuseForeignOrigins(words));
    // The first caller with a token loads the SDK and the tools; the sign-in challenge needs neither.
    app.get(paths.endpoint, async (c) => {
      const caller = await callerOf(c, connector);
      return (await import("./card.ts")).getCard(c, connector, caller);
    });
    app.post(paths.endpoint, async (c) => {
      const caller = await callerOf(c, connector);
      return (await import("./message.ts")).postMessage(c, connector, caller);
    });
    app.delete(paths.endpoint, (c) => endSession(c, connector));
    app.options(paths.endpoint, (c) => preflight(c, ENDPOINT_METHODS));

    for (const path of paths.documents) {
      app.get(path, (c) =>
        protectedResource(c, {
          resource: address.resource,
          issuer: urls.issuer,
          title: words.connector.title,
        }, config));
      app.options(path, (c) => preflight(c, DOCUMENT_METHODS));
    }
  }
  return app;
}

// The documents are public; only the endpoint checks the origin.
const refuseForeignOrigins = ({ connector }: Words): MiddlewareHandler<AppEnv> => async (c, next) => {
  if (!isAllowedOrigin(c.req.header("origin"))) throw new AppError("forbidden", connector.refusals.foreignOrigin);
  await next();
};
