/** `DELETE` of the connector: ends a session. There are none, so it has nothing to do but to say that it is done. */
import type { AppContext } from "../../shared/http/app.ts";
import { callerTokenHash, type Connector, refusal } from "./connector.ts";

export async function endSession(c: AppContext, connector: Connector): Promise<Response> {
  const refused = refusal(await connector.store.authenticate(await callerTokenHash(c, connector)), connector);
  return refused ?? c.body(null, 204);
}
