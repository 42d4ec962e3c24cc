/**
 * `GET` of the connector: describes the server to token holders. A client that requests an event stream gets a clear
 * refusal, because it would reconnect endlessly after any other response.
 */
import { acceptsEventStream } from "../../shared/connector/accept.ts";
import { AppError } from "../../shared/errors.ts";
import type { AppContext } from "../../shared/http/app.ts";
import type { Bearer } from "../../shared/db/connector_store.ts";
import { authenticateCaller } from "./authentication.ts";
import type { Connector } from "./connector.ts";
import { introduction, PROTOCOL_VERSIONS } from "./server_info.ts";

export async function getCard(c: AppContext, connector: Connector, caller: Bearer): Promise<Response> {
  const refused = await authenticateCaller(connector, caller);
  if (refused) return refused;
  if (acceptsEventStream(c.req.header("accept"))) {
    throw new AppError("method_not_allowed", connector.words.connector.refusals.noEventStreams, {
      headers: { allow: "POST, OPTIONS" },
    });
  }
  const card = {
    ...introduction(connector.words, connector.config.siteUrl),
    description: connector.words.connector.description,
    protocol_versions: PROTOCOL_VERSIONS,
    resource: connector.address.resource,
  };
  return c.json(card, 200, { "cache-control": "private, max-age=300", "vary": "Authorization, Accept" });
}
