/** @jsxImportSource hono/jsx */
/**
 * Responses of the authorization endpoint that reach the client through the browser (RFC 6749 §4.1.2). Each contains
 * the unchanged state, and the issuer, because a client of several servers must tell them apart (RFC 9207).
 */
import type { AppContext } from "../../shared/http/app.ts";
import { AUTHORIZATION_ERRORS, type AuthorizationRefusal } from "../../shared/oauth/authorization_request.ts";
import { appOfCallback, appOfForwarder } from "../../shared/oauth/known_makers.ts";
import { isRegistered, type RedirectTarget, withParameters } from "../../shared/oauth/redirect_uri.ts";
import { renderProblem } from "../../shared/pages/error_page.tsx";
import type { AuthorizationServer } from "./server.ts";

/** A request with a verified redirect URI. */
interface Verified {
  client_id: string;
  redirect_uri: string;
  state?: string | undefined;
}

/**
 * Reports an error to the client before the person has seen a page. Anybody can register a client and abuse this as an
 * open redirect. Therefore a redirect URI that the person has not approved before gets a page with the error and a
 * link (RFC 9700 §4.11.2). Apps on the person's own device and published callbacks of known makers get a redirect,
 * too. With `prompt=none`, which works without a person, only approved redirect URIs do.
 */
export async function refuseUnasked(
  c: AppContext,
  server: Pick<AuthorizationServer, "config" | "urls" | "log">,
  { request, reason, target, isSilent, approved }: {
    request: Verified;
    reason: AuthorizationRefusal;
    target: RedirectTarget;
    /** Whether the request has `prompt=none`. */
    isSilent: boolean;
    /** Redirect URIs that the person has already approved for this client. */
    approved: readonly string[];
  },
): Promise<Response> {
  const answer = redirectRefusal(c, server, { request, reason });
  const uri = request.redirect_uri;
  const isApproved = isRegistered(uri, approved) && !appOfForwarder(uri);
  const isKnown = target.kind !== "https" || appOfCallback(uri) !== undefined;
  if (isApproved || (isKnown && !isSilent)) return answer;
  const { unasked, unchanged } = c.get("reader").words.consentRefusals;
  // The OAuth error description, in English for the app's developers.
  const what = <code>{AUTHORIZATION_ERRORS[reason].error_description}</code>;
  const { message, label } = target.kind === "https"
    ? { message: unasked.fromHost(target.host, what), label: unasked.goTo(target.host) }
    : { message: unasked.fromDevice(what), label: unasked.tellApp };
  const next = { label, href: answer.headers.get("location")!, isQuiet: true };
  const problem = { title: unasked.title, message, changed: unchanged, next };
  return await renderProblem(c, { config: server.config, status: 400, problem });
}

/** Reports an error to the client by redirect. */
export function redirectRefusal(
  c: AppContext,
  { urls, log }: Pick<AuthorizationServer, "urls" | "log">,
  { request, reason, status = 302 }: { request: Verified; reason: AuthorizationRefusal; status?: 302 | 303 },
): Response {
  log.info("refused", { request_id: c.get("requestId"), reason, client_id: request.client_id });
  const state = reason === "state_too_long" ? undefined : request.state;
  const answer = { ...AUTHORIZATION_ERRORS[reason], state, iss: urls.issuer };
  return redirect(withParameters(request.redirect_uri, answer), status);
}

/** Sends the code to the client. The 303 prevents the browser from resending the form to the client. */
export function redirectWithCode(
  { urls }: Pick<AuthorizationServer, "urls">,
  { request, code }: { request: Verified; code: string },
): Response {
  return redirect(withParameters(request.redirect_uri, { code, state: request.state, iss: urls.issuer }), 303);
}

export function redirect(location: string, status: 302 | 303): Response {
  return new Response(null, { status, headers: { location, "cache-control": "no-store" } });
}
