/**
 * The decision (RFC 6749 §4.1.1): the consent form comes back. What was asked is taken from the signed page alone; who answers from
 * the session; whether they may, from the database at this moment. A second press within half a minute gets the same code.
 */
import { AppError } from "../../shared/errors.ts";
import type { AppContext } from "../../shared/http/app.ts";
import { readForm } from "../../shared/http/form_post.ts";
import { readSession } from "../../shared/http/session.ts";
import { withNext } from "../../shared/identity/next_path.ts";
import { issueCode } from "../../shared/oauth/authorization_code.ts";
import { authorizationPath, type AuthorizationRequest } from "../../shared/oauth/authorization_request.ts";
import { openConsent, type ShownConsent } from "../../shared/oauth/consent_token.ts";
import { redirect, redirectRefusal, redirectWithCode } from "./authorization_response.ts";
import { refuseWithPage } from "./page_refusal.ts";
import type { AuthorizationServer } from "./server.ts";

export async function decideConsent(c: AppContext, server: AuthorizationServer): Promise<Response> {
  requireOwnSite(c, server.urls.issuer);
  const form = await readForm(c, server.config);
  const at = server.clock();
  const opened = await openConsent(server.config.codeSecrets, form.get("consent") ?? "", at);
  if (opened.outcome === "not_ours") return await refuseWithPage(c, server, "consent_not_ours");
  const { consent } = opened;
  const request = wireRequest(consent.request);
  const retry = { retry: authorizationPath(request), clientId: request.client_id };
  if (opened.outcome === "expired") return await refuseWithPage(c, server, "consent_expired", retry);

  const user = await readSession(c, server);
  if (!user) return redirect(withNext("/login", retry.retry), 303);
  if (user.id !== consent.userId) return await refuseWithPage(c, server, "consent_of_another_person", retry);

  switch (form.get("action")) {
    case "deny":
      return redirectRefusal(c, server, { request, reason: "access_denied", status: 303 });
    case "approve":
      return await approve(c, server, { consent, organizationId: form.get("organization_id"), at });
    default:
      return await refuseWithPage(c, server, "decision_missing", retry);
  }
}

async function approve(
  c: AppContext,
  server: AuthorizationServer,
  { consent, organizationId, at }: { consent: ShownConsent; organizationId: string | undefined; at: Date },
): Promise<Response> {
  const request = wireRequest(consent.request);
  const retry = { retry: authorizationPath(request), clientId: request.client_id };
  if (!organizationId) return await refuseWithPage(c, server, "organization_missing", retry);
  if (!/^org_[0-9a-z]{1,32}$/.test(organizationId)) return await refuseWithPage(c, server, "not_a_member", retry);

  const { id, userId } = consent;
  const approval = await server.store.approveConsent({ id, clientId: request.client_id, userId, organizationId, at });
  if (approval.outcome === "already_decided" || approval.outcome === "unknown_client") {
    return await refuseWithPage(c, server, approval.outcome, { clientId: request.client_id });
  }
  if (approval.outcome !== "approved") return await refuseWithPage(c, server, approval.outcome, retry);

  const code = await issueCode(server.config.codeSecrets, {
    id,
    clientId: request.client_id,
    redirectUri: request.redirect_uri,
    userId,
    organizationId: approval.organization_id,
    resource: server.urls.resource,
    codeChallenge: request.code_challenge,
  }, new Date(approval.approved_at));
  return redirectWithCode(server, { request, code });
}

/** The request in the names it came by. */
const wireRequest = ({ clientId, redirectUri, codeChallenge, state }: AuthorizationRequest) => ({
  client_id: clientId,
  redirect_uri: redirectUri,
  code_challenge: codeChallenge,
  ...(state !== undefined && { state }),
});

/**
 * A browser always says where a form was posted from. `Origin` is `null` for our own pages, which send no referrer (Fetch
 * §3.2), but then `Sec-Fetch-Site` tells; what says neither is no browser and has no business here.
 */
function requireOwnSite(c: AppContext, site: string): void {
  const origin = c.req.header("origin");
  const fetchSite = c.req.header("sec-fetch-site");
  const isOurs = fetchSite
    ? fetchSite === "same-origin" && (!origin || origin === "null" || origin === site)
    : origin === site;
  if (!isOurs) throw new AppError("forbidden", "That answer was sent from another website, so we did nothing with it.");
}
