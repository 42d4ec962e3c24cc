/** `DELETE` of the connector, which ends a session. The connector has no sessions, so it always succeeds. */
import type { AppContext } from "../../shared/http/app.ts";
import { authenticateCaller, callerOf } from "./authentication.ts";
import type { Connector } from "./connector.ts";

export async function endSession(c: AppContext, connector: Connector): Promise<Response> {
  return await authenticateCaller(connector, await callerOf(c, connector)) ?? c.body(null, 204);
}
