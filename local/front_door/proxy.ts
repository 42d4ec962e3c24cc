/**
 * Forwards a request to another server like a reverse proxy (RFC 9110 §7.6.1): streams bodies, and leaves redirects to
 * the caller.
 */

import { DIRECT_HEADER, FRONT_DOOR_HEADER, REQUEST_ID_HEADER } from "../../shared/routes.ts";

/** Headers that belong to one connection only. */
const HOP_HEADERS = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

export interface Client {
  /** The caller's IP address, if the runtime provides it. */
  address: string;
  /** Whether the request seems to come from this machine; only the embedded stack sets it. */
  isDirect?: boolean;
}

export interface ForwardOptions {
  /** Absolute URL to request. */
  target: string;
  client?: Client | undefined;
  /** Proves to the functions that the caller's address is genuine. */
  secret?: string | undefined;
  /** The request's id in all logs; replaces an id from the visitor. */
  requestId?: string;
  /** The body, if already read; otherwise the request's own. */
  body?: BodyInit | null;
  fetch?: (request: Request) => Promise<Response>;
}

/** Returns the response of `target`, with mutable headers. */
export async function forward(
  request: Request,
  { target, client, secret, requestId, body = request.body, fetch = globalThis.fetch }: ForwardOptions,
): Promise<Response> {
  const url = new URL(request.url);
  const headers = endToEnd(request.headers);
  headers.delete("host");
  headers.set("x-forwarded-host", url.host);
  headers.set("x-forwarded-proto", url.protocol.slice(0, -1));
  // Replaced, not extended, because a visitor can forge incoming values. When hosted, the platform's edge sets
  // cf-connecting-ip again.
  for (const name of ["cf-connecting-ip", "x-forwarded-for", FRONT_DOOR_HEADER, DIRECT_HEADER]) headers.delete(name);
  if (client) headers.set("x-forwarded-for", client.address);
  if (client?.isDirect) headers.set(DIRECT_HEADER, "1");
  if (secret) headers.set(FRONT_DOOR_HEADER, secret);
  if (requestId) headers.set(REQUEST_ID_HEADER, requestId);
  const { method } = request;
  const response = await fetch(new Request(target, { method, headers, body, redirect: "manual" }));
  const answered = endToEnd(response.headers);
  // fetch has already decoded the body.
  if (answered.has("content-encoding")) {
    answered.delete("content-encoding");
    answered.delete("content-length");
  }
  return new Response(response.body, { status: response.status, headers: answered });
}

function endToEnd(from: Headers): Headers {
  const headers = new Headers(from);
  const named = headers.get("connection")?.split(",").map((name) => name.trim()).filter(Boolean) ?? [];
  for (const name of [...HOP_HEADERS, ...named]) headers.delete(name);
  return headers;
}
