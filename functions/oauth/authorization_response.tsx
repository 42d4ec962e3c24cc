/** @jsxImportSource hono/jsx */
/**
 * Answers of the authorization endpoint that go to the client by way of the browser (RFC 6749 §4.1.2). Each carries the
 * issuer, so that a client of several servers can tell whose answer it is (RFC 9207), and the state as it came.
 */
import type { AppContext } from "../../shared/http/app.ts";
import { AUTHORIZATION_ERRORS, type AuthorizationRefusal } from "../../shared/oauth/authorization_request.ts";
import { appOfCallback, appOfForwarder } from "../../shared/oauth/known_makers.ts";
import { isRegistered, type RedirectTarget, withParameters } from "../../shared/oauth/redirect_uri.ts";
import { renderProblem } from "../../shared/pages/error_page.tsx";
import type { AuthorizationServer } from "./server.ts";

/** A request whose redirect URI is known to be the client's. */
interface Verified {
  client_id: string;
  redirect_uri: string;
  state?: string | undefined;
}

/**
 * Tells the client why not, before the person was shown anything. Anybody can register a client, so a link to us would lead wherever they like:
 * where a person has not approved going, they are told what is wrong and go on by a press of their own (RFC 9700 §4.11.2). A person who is there
 * may also be led to an app on their own device and to the callback that the maker of a known app publishes; `prompt=none` asks us to go on
 * whether anybody is there or not, so it leads to nothing that was not approved.
 */
export async function refuseUnasked(
  c: AppContext,
  server: Pick<AuthorizationServer, "config" | "urls" | "log">,
  { request, reason, target, isSilent, approved }: {
    request: Verified;
    reason: AuthorizationRefusal;
    target: RedirectTarget;
    /** Whether the request says `prompt=none`. */
    isSilent: boolean;
    /** Redirect URIs at which the person has this client connected. */
    approved: readonly string[];
  },
): Promise<Response> {
  const answer = redirectRefusal(c, server, { request, reason });
  const uri = request.redirect_uri;
  const isApproved = isRegistered(uri, approved) && !appOfForwarder(uri);
  const isKnown = target.kind !== "https" || appOfCallback(uri) !== undefined;
  if (isApproved || (isKnown && !isSilent)) return answer;
  const { unasked, unchanged } = c.get("reader").words.consentRefusals;
  // What the app would be told is OAuth's, in English for whoever makes it.
  const what = <code>{AUTHORIZATION_ERRORS[reason].error_description}</code>;
  const { message, label } = target.kind === "https"
    ? { message: unasked.fromHost(target.host, what), label: unasked.goTo(target.host) }
    : { message: unasked.fromDevice(what), label: unasked.tellApp };
  const next = { label, href: answer.headers.get("location")!, isQuiet: true };
  const problem = { title: unasked.title, message, changed: unchanged, next };
  return await renderProblem(c, { config: server.config, status: 400, problem });
}

/** Tells the client why not, by redirect. */
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

/** Hands the client its code; after a POST the browser must not send the form on (303). */
export function redirectWithCode(
  { urls }: Pick<AuthorizationServer, "urls">,
  { request, code }: { request: Verified; code: string },
): Response {
  return redirect(withParameters(request.redirect_uri, { code, state: request.state, iss: urls.issuer }), 303);
}

export function redirect(location: string, status: 302 | 303): Response {
  return new Response(null, { status, headers: { location, "cache-control": "no-store" } });
}
