/**
 * The consent decision (RFC 6749 §4.1.1), posted by the consent page. The signed page provides the request, the
 * session the person, the database the permission. Submitting again within half a minute returns the same code.
 */
import { AppError } from "../../shared/errors.ts";
import type { AppContext } from "../../shared/http/app.ts";
import { readForm } from "../../shared/http/form_post.ts";
import { readSession } from "../../shared/http/session.ts";
import { withNext } from "../../shared/next_path.ts";
import { Access } from "../../shared/oauth/access.ts";
import { issueCode } from "../../shared/oauth/authorization_code.ts";
import { authorizationPath } from "../../shared/oauth/authorization_request.ts";
import { openConsent } from "../../shared/oauth/consent_token.ts";
import { redirect, redirectRefusal, redirectWithCode } from "./authorization_response.tsx";
import { type PageRefusal, refuseWithPage } from "./page_refusal.ts";
import type { AuthorizationServer } from "./server.ts";

export async function decideConsent(c: AppContext, server: AuthorizationServer): Promise<Response> {
  requireOwnSite(c, server.urls.issuer);
  const form = await readForm(c, server.config);
  const at = server.clock();
  const opened = await openConsent(server.config.codeSecrets, form.get("consent") ?? "", at);
  if (opened.outcome === "not_ours") return await refuseWithPage(c, server, "consent_not_ours");
  const { id, userId, request } = opened.consent;
  const path = authorizationPath(request);
  const refuse = (reason: PageRefusal) =>
    refuseWithPage(c, server, reason, { retry: path, clientId: request.client_id });
  if (opened.outcome === "expired") return await refuse("consent_expired");

  const user = await readSession(c, server);
  if (!user) return redirect(withNext("/login", path), 303);
  if (user.id !== userId) return await refuse("consent_of_another_person");

  const action = form.get("action");
  if (action === "deny") return redirectRefusal(c, server, { request, reason: "access_denied", status: 303 });
  if (action !== "approve") return await refuse("decision_missing");
  const access = Access.safeParse(form.get("access"));
  if (!access.success) return await refuse("access_missing");
  const organizationId = form.get("organization_id");
  if (!organizationId) return await refuse("organization_missing");
  if (!/^org_[0-9a-z]{1,32}$/.test(organizationId)) return await refuse("not_a_member");

  const approval = await server.store.approveConsent({
    id,
    clientId: request.client_id,
    userId,
    organizationId,
    access: access.data,
    at,
  });
  if (approval.outcome !== "approved") return await refuse(approval.outcome);
  const code = await issueCode(server.config.codeSecrets, {
    id,
    clientId: request.client_id,
    redirectUri: request.redirect_uri,
    userId,
    organizationId: approval.organization_id,
    resource: server.urls.resource,
    codeChallenge: request.code_challenge,
    access: approval.access,
  }, new Date(approval.approved_at));
  return redirectWithCode(server, { request, code });
}

/**
 * Browsers always send a form's origin, so a request without one comes from another program. The signed page serves as
 * the form token, because it names the person who saw it.
 */
function requireOwnSite(c: AppContext, site: string): void {
  const origin = c.req.header("origin");
  const fetchSite = c.req.header("sec-fetch-site");
  const isOurs = fetchSite
    ? fetchSite === "same-origin" && (!origin || origin === "null" || origin === site)
    : origin === site;
  if (!isOurs) throw new AppError("forbidden", "form of another site", { says: ({ otherSite }) => otherSite });
}
