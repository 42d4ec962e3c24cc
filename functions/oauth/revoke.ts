/**
 * Token revocation (RFC 7009): a refresh token ends its grant, an access token only itself. Unknown tokens and other
 * clients' tokens get the same response without effect. The server ignores `token_type_hint`.
 */
import { tokenLimits } from "../../shared/http/quotas.ts";
import { hashToken } from "../../shared/oauth/tokens.ts";
import { NO_STORE, refuse } from "./errors.ts";
import { readForm, requireParameters } from "./form.ts";
import type { Endpoint } from "./server.ts";

export const revoke: Endpoint = async (c, server) => {
  const form = await readForm(c, server, ["client_id", "token"]);
  if (form instanceof Response) return form;
  const sent = requireParameters(c, server, { form, required: ["token"] });
  if (sent instanceof Response) return sent;

  const revocation = await server.store.revokeToken({
    tokenHash: hashToken(sent.token),
    clientId: sent.client_id,
    at: server.clock(),
    limits: await tokenLimits(server.config, c),
  });
  if (revocation.outcome === "unknown_client") return refuse(c, server, "unknown_client");
  server.log.info("revocation", { ...revocation, request_id: c.get("requestId"), client_id: sent.client_id });
  return c.body(null, 200, NO_STORE);
};
