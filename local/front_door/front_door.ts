/**
 * The front door: a fetch handler that maps public paths to functions by the route table. Hosted functions cannot
 * serve HTML on the platform's own domain, because their gateway rewrites it to plain text in a sandbox. So this small
 * proxy is the site. It runs on Deno Deploy, Cloudflare Workers, and inside the embedded stack. It is stateless, and
 * reads short bodies completely before it forwards them.
 */
import { systemTimer, type Timer } from "../../shared/clock.ts";
import { STRICT_TRANSPORT_SECURITY } from "../../shared/http/transport_security.ts";
import { describeError, type Log } from "../../shared/log.ts";
import { findRoute, functionPath, loggedPath, NOT_FOUND, PAGE_POLICY_HEADER } from "../../shared/routes.ts";
import { refuseMethod } from "./methods.ts";
import { readShortBody, SenderFailed } from "./short_body.ts";
import { type Client, forward } from "./proxy.ts";

export interface FrontDoorOptions {
  /** Base URL of the functions, without a trailing slash: `https://<project>.supabase.co/functions/v1`. */
  functionsUrl: string;
  /** One entry of the functions' `FRONT_DOOR_SECRET`; without it the functions see all visitors as one caller. */
  secret?: string | undefined;
  fetch?: (request: Request) => Promise<Response>;
  timer?: Timer;
  /** Receives one line per request. Without it, the handler throws when it cannot reach the functions. */
  log?: Log;
}

export type FrontDoor = (request: Request, client?: Client) => Promise<Response>;

/** @returns a handler for a request and facts about its caller. */
export function createFrontDoor(
  { functionsUrl, secret, fetch = globalThis.fetch, timer = systemTimer, log }: FrontDoorOptions,
): FrontDoor {
  return async (request, client) => {
    const { pathname, search, protocol } = new URL(request.url);
    const route = findRoute(pathname) ?? NOT_FOUND;
    const target = functionsUrl + functionPath(route, pathname) + search;
    const startedAt = performance.now();
    const requestId = crypto.randomUUID();
    const asked = { request_id: requestId, method: request.method, route: loggedPath(pathname) };
    const pass = async () => {
      const body = await readShortBody(request, timer);
      return await forward(request, { target, client, secret, requestId, body, fetch });
    };
    const response = refuseMethod(request) ??
      await pass().catch((thrown) => {
        if (thrown instanceof SenderFailed) return refusal(thrown);
        // The sender disconnected in the middle of a long body.
        if (request.signal.aborted) return refusal(new SenderFailed(400));
        if (!log) throw thrown;
        log.error("functions_unreachable", { ...asked, error: describeError(thrown) });
        return unreachable(requestId);
      });
    // Set here too, because the gateway responds to some requests itself.
    if (protocol === "https:") response.headers.set("strict-transport-security", STRICT_TRANSPORT_SECURITY);
    log?.info("request", {
      ...asked,
      status: response.status,
      duration_ms: Math.round(performance.now() - startedAt),
    });
    return route.page ? asPage(response) : response;
  };
}

const refusal = ({ message, status }: SenderFailed): Response => new Response(`${message}\n`, { status });

/** Plain text, because a front door has no pages. */
const unreachable = (requestId: string): Response =>
  new Response(`The service can't be reached right now. Try again in a minute. Request ${requestId}\n`, {
    status: 502,
    headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store", "retry-after": "60" },
  });

/** Restores a page that the gateway changed to sandboxed plain text without style. Other responses remain unchanged. */
function asPage(response: Response): Response {
  const policy = response.headers.get(PAGE_POLICY_HEADER);
  if (policy) {
    response.headers.set("content-type", "text/html; charset=utf-8");
    response.headers.set("content-security-policy", policy);
    response.headers.delete(PAGE_POLICY_HEADER);
  }
  return response;
}
