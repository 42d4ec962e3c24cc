/** Dependencies of the authorization server's endpoints. */
import { createOAuthStore, type OAuthStore } from "../../shared/db/oauth_store.ts";
import type { Deps } from "../../shared/deps.ts";
import type { AppContext } from "../../shared/http/app.ts";
import { refusedHosts } from "../../shared/net/guarded_url.ts";
import { knowCallbacks } from "../../shared/oauth/known_makers.ts";
import { createUrls, type Urls } from "../../shared/urls.ts";
import { createDocumentReader, type DocumentReader } from "./document_reader.ts";

export interface AuthorizationServer extends Deps {
  store: OAuthStore;
  urls: Urls;
  readDocument: DocumentReader;
  /** Hosts that we never contact for a client. */
  refusedHosts: readonly string[];
  /** Addresses of the connector. Tokens are bound to the first one, whichever the client requested. */
  resources: readonly string[];
}

export type Endpoint = (c: AppContext, server: AuthorizationServer) => Response | Promise<Response>;

export function createAuthorizationServer(deps: Deps): AuthorizationServer {
  const urls = createUrls(deps.config);
  knowCallbacks(deps.config.knownApps);
  return {
    ...deps,
    store: createOAuthStore(deps.database),
    urls,
    readDocument: createDocumentReader(deps),
    refusedHosts: refusedHosts(deps.config),
    resources: [urls.front.resource, urls.direct.resource],
  };
}
