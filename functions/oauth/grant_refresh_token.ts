/**
 * The refresh token grant (RFC 6749 §6) with rotation (RFC 9700 §4.14.2). The successor is derived from the presented
 * token, so a retry within the grace period gets the same response, until the successor is used. `scope` is ignored: a
 * refresh neither widens nor narrows it.
 */
import type { AppContext } from "../../shared/http/app.ts";
import { tokenLimits } from "../../shared/http/quotas.ts";
import { isOurResource } from "../../shared/oauth/resource.ts";
import { hashToken, isRefreshToken, successorOf } from "../../shared/oauth/tokens.ts";
import { refuse } from "./errors.ts";
import { type Form, requireParameters } from "./form.ts";
import type { AuthorizationServer } from "./server.ts";
import { tokenResponse } from "./token_response.ts";

export async function exchangeRefreshToken(
  c: AppContext,
  server: AuthorizationServer,
  form: Form<"client_id" | "refresh_token" | "resource">,
): Promise<Response> {
  const sent = requireParameters(c, server, { form, required: ["refresh_token"] });
  if (sent instanceof Response) return sent;
  const { store, config } = server;
  const at = server.clock();
  const limits = await tokenLimits(config, c);
  const presented = sent.refresh_token;
  const isOtherResource = sent.resource && !isOurResource(sent.resource, server.resources);
  if (isOtherResource || !isRefreshToken(presented)) {
    const { outcome } = await store.findClient({ clientId: sent.client_id, at, limits });
    const reason = isOtherResource ? "resource_unknown" : "token_malformed";
    return refuse(c, server, outcome === "found" ? reason : outcome, { client_id: sent.client_id });
  }

  const next = await successorOf(presented, config.codeSecrets[0]!);
  const rotation = await store.rotateRefreshToken({
    tokenHash: hashToken(presented),
    clientId: sent.client_id,
    successorHash: hashToken(next.refreshToken),
    accessTokenHash: hashToken(next.accessToken),
    at,
    limits,
  });
  if (rotation.outcome !== "rotated") {
    const grant = "grant_id" in rotation ? { grant_id: rotation.grant_id } : {};
    return refuse(c, server, rotation.outcome, { client_id: sent.client_id, ...grant });
  }
  // The existing successor may come from a secret that is no longer first in the list.
  for (const secret of config.codeSecrets) {
    const successor = await successorOf(presented, secret);
    if (hashToken(successor.refreshToken) === rotation.successor_hash) {
      return tokenResponse(c, successor, rotation.expires_in);
    }
  }
  return refuse(c, server, "successor_not_derivable", { grant_id: rotation.grant_id });
}
