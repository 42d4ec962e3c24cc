/**
 * The authorization endpoint (RFC 6749 §3.1): validates a request and asks the person. Until the client and its
 * redirect URI are verified, errors appear on a page, without a redirect.
 */
import type { AppContext } from "../../shared/http/app.ts";
import { readSession } from "../../shared/http/session.ts";
import { withNext } from "../../shared/next_path.ts";
import { askedAccess } from "../../shared/oauth/access.ts";
import { withAskingApp } from "../../shared/oauth/asking_app.ts";
import {
  AUTHORIZATION_PARAMETERS,
  type AuthorizationParameters,
  authorizationPath,
  type AuthorizationRefusal,
  judgeAuthorizationRequest,
} from "../../shared/oauth/authorization_request.ts";
import { isClientId } from "../../shared/oauth/client_id.ts";
import { signConsent } from "../../shared/oauth/consent_token.ts";
import { readParameters } from "../../shared/oauth/parameters.ts";
import { isRegistered, judgeRedirectUri, type RedirectTarget } from "../../shared/oauth/redirect_uri.ts";
import { redirect, refuseUnasked } from "./authorization_response.tsx";
import { showConsent } from "./consent_page.tsx";
import { openClient } from "./open_client.ts";
import { type PageRefusal, refuseWithPage } from "./page_refusal.ts";
import type { AuthorizationServer } from "./server.ts";

export async function authorize(c: AppContext, server: AuthorizationServer): Promise<Response> {
  const addressed = readAddressed(c);
  if (!addressed.ok) return await refuseWithPage(c, server, addressed.reason);
  const { sent, target } = addressed;

  const user = await readSession(c, server);
  const at = server.clock();
  const asking = { clientId: sent.client_id, userId: user?.id ?? null, at };
  const found = await openClient(c, server, asking);
  if (!found.ok) return await refuseWithPage(c, server, found.reason);
  const { client, approved, organizations, onboarded, plans_enabled: hasPlans, narrowed: isNarrowed } = found.opened;
  if (!isRegistered(sent.redirect_uri, client.redirect_uris)) {
    return await refuseWithPage(c, server, "redirect_uri_not_registered", { clientId: client.client_id });
  }

  const isSilent = sent.prompt?.split(" ").includes("none") ?? false;
  const refuse = (reason: AuthorizationRefusal) =>
    refuseUnasked(c, server, { request: sent, reason, target, isSilent, approved });
  const judged = judgeAuthorizationRequest(sent, server);
  if (!judged.ok) return await refuse(judged.reason);
  if (!user) {
    if (isSilent) return await refuse("login_required");
    const asking = { name: client.client_name, at };
    return redirect(
      withNext("/login", await withAskingApp(server.config.codeSecrets, authorizationPath(sent), asking)),
      302,
    );
  }
  // Always ask, because any app on this computer could impersonate one that was allowed before (RFC 8252 §8.6).
  if (isSilent) return await refuse("consent_required");
  if (!onboarded) return redirect(withNext("/onboarding", authorizationPath(sent)), 302);
  // The person completed onboarding but left their only organization.
  if (organizations.length === 0) return redirect(withNext("/organizations/new", authorizationPath(sent)), 302);

  const consent = { id: crypto.randomUUID(), userId: user.id, request: judged.request };
  const token = await signConsent(server.config.codeSecrets, consent, at);
  return await showConsent(c, server, {
    client,
    target,
    redirectUri: sent.redirect_uri,
    organizations,
    hasPlans,
    isNarrowed,
    access: isNarrowed ? "read" : askedAccess(sent.scope),
    user,
    token,
    path: authorizationPath(sent),
  });
}

type Addressed =
  | { ok: true; sent: AuthorizationParameters & { client_id: string; redirect_uri: string }; target: RedirectTarget }
  | { ok: false; reason: PageRefusal };

/** The parameters, if the client id and the redirect URI are well-formed. */
function readAddressed(c: AppContext): Addressed {
  const read = readParameters(new URL(c.req.url).searchParams, AUTHORIZATION_PARAMETERS);
  if (!read.ok) return { ok: false, reason: "parameter_repeated" };
  const { client_id, redirect_uri } = read.values;
  if (!client_id) return { ok: false, reason: "client_id_missing" };
  if (!isClientId(client_id)) return { ok: false, reason: "unknown_client" };
  if (!redirect_uri) return { ok: false, reason: "redirect_uri_missing" };
  const judged = judgeRedirectUri(redirect_uri);
  if (!judged.ok) return { ok: false, reason: "redirect_uri_not_allowed" };
  return { ok: true, sent: { ...read.values, client_id, redirect_uri }, target: judged.target };
}
