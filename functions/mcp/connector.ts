/** What the handlers of one connector address share. */
import type { FollowUpServices } from "../../shared/connector/tool.ts";
import type { ConnectorStore } from "../../shared/db/connector_store.ts";
import type { LimitConfig } from "../../shared/http/quotas.ts";
import type { Log } from "../../shared/log.ts";
import type { ConnectorAddress } from "../../shared/urls.ts";

export interface Connector {
  store: ConnectorStore;
  config: LimitConfig;
  log: Log;
  /** The requested address; challenges point to its own document. */
  address: ConnectorAddress;
  /** Where to change an organization's plan. */
  plansUrl: (organizationId?: string) => string;
  /** Where to connect a bill to its provider. */
  connectUrl: string;
  /** For the tool that fetches amounts. */
  askProviders: FollowUpServices["askProviders"];
}
