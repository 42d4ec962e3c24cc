/**
 * The front door: a fetch handler that maps public paths to functions by the route table. Hosted functions cannot serve
 * HTML on the platform's own domain (their gateway rewrites it to plain text in a sandbox), so the site is this small
 * proxy. It runs on Deno Deploy, Cloudflare Workers, and inside the embedded stack. It is stateless and reads no
 * bodies.
 */
import { STRICT_TRANSPORT_SECURITY } from "../../shared/http/transport_security.ts";
import { findRoute, functionPath, NOT_FOUND, PAGE_POLICY_HEADER } from "../../shared/routes.ts";
import { refuseMethod } from "./methods.ts";
import { forward } from "./proxy.ts";

export interface FrontDoorOptions {
  /** Base URL of the functions, without a trailing slash: `https://<project>.supabase.co/functions/v1`. */
  functionsUrl: string;
  /** One entry of the functions' `FRONT_DOOR_SECRET`; without it the functions see all visitors as one caller. */
  secret?: string | undefined;
  fetch?: (request: Request) => Promise<Response>;
}

export type FrontDoor = (request: Request, client?: { address: string }) => Promise<Response>;

/** @returns a handler; `client.address` is the caller's IP address, if the runtime provides it. */
export function createFrontDoor({ functionsUrl, secret, fetch = globalThis.fetch }: FrontDoorOptions): FrontDoor {
  return async (request, client) => {
    const { pathname, search, protocol } = new URL(request.url);
    const route = findRoute(pathname) ?? NOT_FOUND;
    const target = functionsUrl + functionPath(route, pathname) + search;
    const response = refuseMethod(request) ?? await forward(request, { target, client, secret, fetch });
    // Set here too, since the gateway answers some requests itself.
    if (protocol === "https:") response.headers.set("strict-transport-security", STRICT_TRANSPORT_SECURITY);
    return route.page ? asPage(response) : response;
  };
}

/** Restores a page that the gateway changed: plain text, a sandbox, no style. Other responses are left alone. */
function asPage(response: Response): Response {
  const policy = response.headers.get(PAGE_POLICY_HEADER);
  if (policy) {
    response.headers.set("content-type", "text/html; charset=utf-8");
    response.headers.set("content-security-policy", policy);
    response.headers.delete(PAGE_POLICY_HEADER);
  }
  return response;
}
