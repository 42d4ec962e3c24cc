/** What the handlers of one connector address share. */
import type { Clock } from "../../shared/clock.ts";
import type { FollowUpServices } from "../../shared/connector/tool.ts";
import type { ConnectorStore } from "../../shared/db/connector_store.ts";
import type { LimitConfig } from "../../shared/http/quotas.ts";
import type { Log } from "../../shared/log.ts";
import type { ConnectorAddress } from "../../shared/urls.ts";
import type { Words } from "../../shared/words/words.ts";
import type { Addresses } from "./addresses.ts";

export interface Connector extends Addresses {
  store: ConnectorStore;
  config: LimitConfig;
  log: Log;
  clock: Clock;
  /** The language of its texts. */
  words: Words;
  /** The requested address; challenges point to its own document. */
  address: ConnectorAddress;
  /** After an answer: sends the mails of a proposal that was made or decided. */
  mailProposal(proposalId: string, requestId: string): void;
  /** For the tool that fetches amounts. */
  askProviders: FollowUpServices["askProviders"];
}
