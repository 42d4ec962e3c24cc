/**
 * Answers of the authorization endpoint that go to the client by way of the browser (RFC 6749 §4.1.2). Each carries the
 * issuer, so that a client of several servers can tell whose answer it is (RFC 9207), and the state as it came.
 */
import type { AppContext } from "../../shared/http/app.ts";
import { AUTHORIZATION_ERRORS, type AuthorizationRefusal } from "../../shared/oauth/authorization_request.ts";
import { isWellKnownHost } from "../../shared/oauth/client_trust.ts";
import { type RedirectTarget, withParameters } from "../../shared/oauth/redirect_uri.ts";
import { renderProblem } from "../../shared/pages/error_page.tsx";
import type { AuthorizationServer } from "./server.ts";

/** A request whose redirect URI is known to be the client's. */
interface Verified {
  client_id: string;
  redirect_uri: string;
  state?: string | undefined;
}

/**
 * Tells the client why not, before the person was shown anything. Anybody can register a client, so that a link to us would lead wherever they
 * like: who has never allowed it is told where, and goes there by a press of their own (RFC 9700 §4.11.2). Nobody is led astray by an app on their
 * own device, or by makers that everybody knows.
 */
export async function refuseUnasked(
  c: AppContext,
  server: Pick<AuthorizationServer, "config" | "urls" | "log">,
  { request, reason, target, connected }: {
    request: Verified;
    reason: AuthorizationRefusal;
    target: RedirectTarget;
    /** Whether the person has allowed the client before. */
    connected: boolean;
  },
): Promise<Response> {
  const answer = redirectRefusal(c, server, { request, reason });
  if (connected || target.kind !== "https" || isWellKnownHost(target.host)) return answer;
  return await renderProblem(c, {
    config: server.config,
    status: 400,
    problem: {
      title: "This app cannot be connected like this",
      message: `An app of ${target.host} sent you here with a request that we cannot answer: ${
        AUTHORIZATION_ERRORS[reason].error_description
      }. We can tell it so, which leads you there; go only if you know that address.`,
      changed: "Nothing was connected.",
      next: { label: `Go to ${target.host}`, href: answer.headers.get("location")!, isQuiet: true },
    },
  });
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
