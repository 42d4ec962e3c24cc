/**
 * The authorization code grant (RFC 6749 §4.1.3, RFC 7636 §4.5): exchanges a valid code for the first tokens of a new
 * grant, in one database call.
 */
import { Buffer } from "node:buffer";
import { type AppContext, note } from "../../shared/http/app.ts";
import { tokenLimits } from "../../shared/http/quotas.ts";
import { judgeCode } from "../../shared/oauth/authorization_code.ts";
import { hashToken, tokenPair } from "../../shared/oauth/tokens.ts";
import { refuse } from "./errors.ts";
import { type Form, requireParameters } from "./form.ts";
import type { AuthorizationServer } from "./server.ts";
import { tokenResponse } from "./token_response.ts";

type CodeForm = Form<"client_id" | "code" | "code_verifier" | "redirect_uri" | "resource">;

export async function exchangeCode(c: AppContext, server: AuthorizationServer, form: CodeForm): Promise<Response> {
  const sent = requireParameters(c, server, { form, required: ["code", "code_verifier", "redirect_uri"] });
  if (sent instanceof Response) return sent;
  const { store, resources } = server;
  const at = server.clock();
  const judged = await judgeCode({
    code: sent.code,
    clientId: sent.client_id,
    redirectUri: sent.redirect_uri,
    codeVerifier: sent.code_verifier,
    resource: sent.resource,
  }, { secrets: server.config.codeSecrets, resources, at });
  const client = { client_id: sent.client_id };
  const limits = await tokenLimits(server.config, c);

  // Reports an unknown client first, so that it registers again instead of requesting consent.
  if (judged.outcome === "refused") {
    const { outcome } = await store.findClient({ clientId: sent.client_id, at, limits });
    return refuse(c, server, outcome === "found" ? judged.reason : outcome, client);
  }
  const { code, expiresAt } = judged;
  if (judged.outcome === "wrong_verifier") {
    const { outcome } = await store.countWrongVerifier({ id: code.id, expiresAt, clientId: code.clientId, at, limits });
    return refuse(c, server, outcome === "counted" ? "wrong_verifier" : outcome, client);
  }

  const tokens = tokenPair([randomSecret(), randomSecret()]);
  const redemption = await store.redeemCode({
    ...code,
    expiresAt,
    accessTokenHash: hashToken(tokens.accessToken),
    refreshTokenHash: hashToken(tokens.refreshToken),
    at,
    limits,
  });
  if (redemption.outcome !== "redeemed") return refuse(c, server, redemption.outcome, client);
  note(c, { grant_id: redemption.grant_id, ...client });
  return tokenResponse(c, tokens, redemption.expires_in);
}

const randomSecret = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
