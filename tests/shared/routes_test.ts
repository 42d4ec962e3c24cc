import { assertEquals } from "@std/assert";
import { findRoute, functionPath, localPath, loggedPath, NOT_FOUND, ROUTES, type Slug } from "../../shared/routes.ts";

const seenBy = (slug: Slug, path: string) => localPath(slug, `http://edge-runtime.example${path}`);

Deno.test("findRoute() finds every path of the table, with and without a trailing slash", () => {
  for (const route of ROUTES) {
    const isFolder = route.path.length > 1 && route.path.endsWith("/");
    const path = isFolder ? `${route.path}page` : route.path;
    assertEquals(findRoute(path), route);
    assertEquals(findRoute(path.replace(/\/?$/, "/"))?.slug, route.slug);
  }
});

Deno.test("findRoute() finds nothing outside the table", () => {
  for (
    const path of ["/api", "/api/mcp/x", "/accounting", "/api/oauth/authorize/x", "/.well-known", "//", "/login//"]
  ) {
    assertEquals(findRoute(path), undefined, path);
  }
});

Deno.test("loggedPath() removes only the part after a secret path", () => {
  assertEquals(
    ["/calendar/one.ics", "/calendar/one.ics/", "/calendar/a/b", "/calendar", "/account", "/account/calendar"].map(
      loggedPath,
    ),
    [...Array(3).fill("/calendar/[redacted]"), "/calendar", "/account", "/account/calendar"],
  );
});

Deno.test("an unknown path has no route", () => {
  assertEquals(findRoute(seenBy(NOT_FOUND.slug, functionPath(NOT_FOUND, "/login"))), undefined);
});

Deno.test("localPath() returns the public path that the front door requested", () => {
  for (const route of ROUTES) {
    const path = route.target ?? route.path;
    assertEquals(
      seenBy(route.slug, `/functions/v1${functionPath(route, route.path)}`),
      seenBy(route.slug, path),
      route.path,
    );
  }
});

Deno.test("localPath() reads a function's own paths, with or without the platform's prefix", () => {
  const cases: [Slug, string, string][] = [
    ["mcp", "/mcp", "/"],
    ["mcp", "/functions/v1/mcp/", "/"],
    ["mcp", "/mcp/api/mcp/", "/api/mcp"],
    ["mcp", "/functions/v1/mcp/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource"],
    ["oauth", "/functions/v1/oauth/token", "/api/oauth/token"],
    ["oauth", "/oauth/api/oauth/token", "/api/oauth/token"],
    ["oauth", "/api/oauth/token", "/api/oauth/token"],
    ["auth-callback", "/functions/v1/auth-callback", "/auth/callback"],
    ["auth-callback", "/auth-callback/account/", "/account"],
    ["cron-reminders", "/cron-reminders", "/api/cron/reminders"],
  ];
  for (const [slug, path, expected] of cases) assertEquals(seenBy(slug, path), expected, path);
});
