/** The dependencies that all handlers of a connector address share. */
import type { Config } from "../../shared/config.ts";
import type { Clock } from "../../shared/clock.ts";
import type { FollowUpServices } from "../../shared/connector/tool.ts";
import type { ConnectorStore } from "../../shared/db/connector_store.ts";
import type { LimitConfig } from "../../shared/http/quotas.ts";
import type { Log } from "../../shared/log.ts";
import type { ConnectorAddress } from "../../shared/urls.ts";
import type { Words } from "../../shared/words/words.ts";
import type { Addresses } from "./addresses.ts";
import type { EventDeps } from "./events/call.ts";

export interface Connector extends Addresses {
  store: ConnectorStore;
  config: LimitConfig & Pick<Config, "codeSecrets" | "siteUrl">;
  log: Log;
  clock: Clock;
  /** The language of its texts. */
  words: Words;
  /** The requested URL; challenges point to its own document. */
  address: ConnectorAddress;
  /** Sends the mails about a new or decided proposal, after the answer. */
  mailProposal(proposalId: string, requestId: string): void;
  /** Serves the tool that fetches amounts. */
  askProviders: FollowUpServices["askProviders"];
  /** Serves the tool that receives files. @param tokenHash of the caller */
  fetchFile(url: string, tokenHash: string): ReturnType<FollowUpServices["fetchFile"]>;
  /** The dependencies of the events extension. */
  events: EventDeps;
}
