/**
 * The frame of every function: request id, one log line, one place where a thrown error becomes an answer.
 * It knows nothing of what a function does; how an error looks on the wire is the surface's to say.
 */
import { type Context, Hono } from "hono";
import type { Deps } from "../deps.ts";
import { AppError, toAppError } from "../errors.ts";
import { describeError } from "../log.ts";
import { localPath, type Slug } from "../routes.ts";

export type AppEnv = {
  Variables: {
    requestId: string;
    /** `Set-Cookie` values that leave with the answer, whatever the handler returned (session.ts). */
    cookies: string[];
  };
};
export type AppContext = Context<AppEnv>;
export type App = Hono<AppEnv>;

/** Turns a failure into the answer of one surface (OAuth JSON, JSON-RPC, page …). */
export type RenderError = (error: AppError, c: AppContext) => Response | Promise<Response>;

/** An app that routes by public paths and answers unknown ones through `renderError`. */
export function createApp(
  slug: Slug,
  deps: Pick<Deps, "log" | "clock">,
  renderError: RenderError = renderJsonError,
): App {
  const app: App = new Hono<AppEnv>({ getPath: (request) => localPath(slug, request.url) });

  app.use(async (c, next) => {
    const startedAt = performance.now();
    c.set("requestId", crypto.randomUUID());
    c.set("cookies", []);
    await next();
    // A handler may hand back a Response whose headers cannot be changed (fetch results, Response.redirect).
    c.res = new Response(c.res.body, c.res);
    c.res.headers.set("x-request-id", c.get("requestId"));
    for (const cookie of c.get("cookies")) c.res.headers.append("set-cookie", cookie);
    deps.log.info("request", {
      request_id: c.get("requestId"),
      method: c.req.method,
      route: c.req.path,
      status: c.res.status,
      duration_ms: Math.round(performance.now() - startedAt),
    });
  });

  app.onError(async (thrown, c) => {
    const error = toAppError(thrown);
    if (error.status >= 500) {
      deps.log.error("failure", {
        request_id: c.get("requestId"),
        route: c.req.path,
        code: error.code,
        error: describeError(error),
      });
    }
    const response = await renderError(error, c);
    for (const [name, value] of Object.entries(error.options.headers ?? {})) response.headers.set(name, value);
    return response;
  });

  app.notFound((c) => Promise.resolve(renderError(new AppError("not_found", "There is nothing at this address."), c)));
  return app;
}

/** Answers every method that a route does not serve with 405 and `Allow` (RFC 9110 §15.5.6). Register it after the route's own handlers. */
export function refuseOtherMethods(app: App, path: string, allow: string): void {
  app.all(path, () => {
    throw new AppError("method_not_allowed", `This address answers ${allow} only.`, { headers: { Allow: allow } });
  });
}

/** `{"error":{"code","message","request_id"}}`: the shape of the scheduled jobs and the webhook. */
export const renderJsonError: RenderError = (error, c) =>
  c.json(
    { error: { code: error.code, message: error.message, request_id: c.get("requestId") } },
    error.status,
    { "cache-control": "no-store" },
  );
