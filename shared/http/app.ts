/**
 * Behavior that all functions share: request id, one log line, HSTS, one place that turns a thrown error into a
 * response, and 405 for methods that a path does not support. Each surface decides how its errors look.
 */
import type { Context } from "hono";
import { METHOD_NAME_ALL } from "hono/router";
// This router is ready at once, while the default one compiles all routes at the first request. A match costs 0.2 µs
// more.
import { Hono } from "hono/tiny";
import type { Config } from "../config.ts";
import { AppError, toAppError } from "../errors.ts";
import { describeError, type Log, type LogFields } from "../log.ts";
import type { Reader } from "../words/reader.ts";
import { localPath, loggedPath, METHODS, REQUEST_ID_HEADER, type Slug } from "../routes.ts";
import type { BodyReader } from "./body_reader.ts";
import { type CurrentRequest, withRequest } from "./current_request.ts";
import { requestIdOf } from "./request_id.ts";
import { STRICT_TRANSPORT_SECURITY } from "./transport_security.ts";

export type AppEnv = {
  Variables: {
    requestId: string;
    /** `Set-Cookie` values to add to the handler's response (session.ts). */
    cookies: string[];
    /** Reads the body, whose start was read before the request got a place (admission.ts). */
    body?: BodyReader;
    /** The hash of the request's access token, valid or not. */
    tokenHash?: string;
    /** Extra fields of the request's log line. */
    logged: LogFields;
    /** Set on page surfaces (pages/reader.ts). */
    reader: Reader;
    /** The signed-in person of the page, because error pages show the same header. */
    signedIn?: { email: string };
  };
};
export type AppContext = Context<AppEnv>;
export type App = Hono<AppEnv>;

/** Turns a failure into the response format of one surface (OAuth JSON, JSON-RPC, page …). */
export type RenderError = (error: AppError, c: AppContext) => Response | Promise<Response>;

/**
 * An app that routes by public paths. `renderError` handles unknown paths and unsupported methods: 405 with `Allow`
 * (RFC 9110 §15.5.6), derived from the routes themselves.
 */
export function createApp(
  slug: Slug,
  { config, log }: { config: Pick<Config, "siteUrl" | "frontDoorSecrets">; log: Log },
  renderError: RenderError = renderJsonError,
): App {
  const app: App = new Hono<AppEnv>({ getPath: (request) => localPath(slug, request.url) });
  // The header must not be sent over http, which only loopback uses (RFC 6797 §7.2).
  const isHttps = config.siteUrl.startsWith("https:");

  app.use(async (c, next) => {
    const startedAt = performance.now();
    const requestId = requestIdOf(c.req.raw.headers, config);
    c.set("requestId", requestId);
    c.set("cookies", []);
    c.set("logged", {});
    const request: CurrentRequest = { id: requestId };
    await withRequest(request, next);
    // A reader may read a file slowly.
    request.databaseMs = undefined;
    // Modifies the response in place, because a copy would turn its text into a stream.
    const { headers } = c.res;
    headers.set(REQUEST_ID_HEADER, requestId);
    if (isHttps) headers.set("strict-transport-security", STRICT_TRANSPORT_SECURITY);
    for (const cookie of c.get("cookies")) headers.append("set-cookie", cookie);
    log.info("request", {
      request_id: requestId,
      method: c.req.method,
      route: loggedPath(c.req.path),
      status: c.res.status,
      duration_ms: Math.round(performance.now() - startedAt),
      ...c.get("logged"),
    });
  });

  app.onError((thrown, c) => {
    const error = toAppError(thrown);
    // The request's own log line records that it was shed; another line would add load.
    if (error.status >= 500 && error.code !== "overloaded") {
      log.error("failure", {
        request_id: c.get("requestId"),
        route: loggedPath(c.req.path),
        code: error.code,
        error: describeError(error),
      });
    }
    return answerError(error, c);
  });

  // Rendered, not thrown, because a thrown error would bypass the middleware that sets this surface's headers.
  app.notFound((c) => {
    const served = servedMethods(app, c.req.path);
    if (served.length === 0 && METHODS.includes(c.req.method)) {
      return answerError(new AppError("not_found", "Not found."), c);
    }
    return answerError(methodNotAllowed(served.length > 0 ? served : METHODS), c);
  });

  async function answerError(error: AppError, c: AppContext): Promise<Response> {
    const response = await renderError(error, c);
    for (const [name, value] of Object.entries(error.options.headers ?? {})) response.headers.set(name, value);
    return response;
  }
  return app;
}

/** Adds fields to the request's log line, because a request logs one line. */
export const note = (c: AppContext, fields: LogFields): void => c.set("logged", { ...c.get("logged"), ...fields });

/** The methods that an app handles at a path; empty if unknown. Hono serves HEAD with the GET handler. */
function servedMethods(app: App, path: string): readonly string[] {
  // Middleware is registered for all methods.
  const isServed = (method: string) =>
    app.router.match(method, path)[0].some(([[, route]]) => route.method !== METHOD_NAME_ALL);
  return METHODS.filter((method) => isServed(method === "HEAD" ? "GET" : method));
}

function methodNotAllowed(methods: readonly string[]): AppError {
  const allow = methods.join(", ");
  return new AppError("method_not_allowed", `This address supports ${allow} only.`, { headers: { Allow: allow } });
}

/** `{"error":{"code","message","request_id"}}`: the error format of the scheduled jobs and the webhook. */
export const renderJsonError: RenderError = (error, c) =>
  c.json(
    { error: { code: error.code, message: error.message, request_id: c.get("requestId") } },
    error.status,
    { "cache-control": "no-store" },
  );
