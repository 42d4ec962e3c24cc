/**
 * `GET` of the connector: a description of the server for token holders. A client that requests an event stream gets a
 * clear refusal: with a response it cannot read as a stream it would reconnect endlessly.
 */
import { acceptsEventStream } from "../../shared/connector/accept.ts";
import { AppError } from "../../shared/errors.ts";
import type { AppContext } from "../../shared/http/app.ts";
import { authenticateRequest } from "./authentication.ts";
import type { Connector } from "./connector.ts";
import { DESCRIPTION, PROTOCOL_VERSIONS, SERVER_INFO } from "./server_info.ts";

export async function getCard(c: AppContext, connector: Connector): Promise<Response> {
  const refused = await authenticateRequest(c, connector);
  if (refused) return refused;
  if (acceptsEventStream(c.req.header("accept"))) {
    throw new AppError("method_not_allowed", "This server does not support event streams; send requests by POST.", {
      headers: { allow: "POST, OPTIONS" },
    });
  }
  const card = {
    ...SERVER_INFO,
    description: DESCRIPTION,
    protocol_versions: PROTOCOL_VERSIONS,
    resource: connector.address.resource,
  };
  return c.json(card, 200, { "cache-control": "private, max-age=300", "vary": "Authorization, Accept" });
}
