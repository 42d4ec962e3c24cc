/** Every function returns 405 for unsupported methods, and HSTS on https sites. */
import { assert, assertEquals, assertFalse } from "@std/assert";
import { createFunctions, FUNCTIONS_ORIGIN } from "../../local/functions.ts";
import { readConfig } from "../../shared/config.ts";
import { AppError } from "../../shared/errors.ts";
import { createLog } from "../../shared/log.ts";
import { functionPath, METHODS, ROUTES, SLUGS } from "../../shared/routes.ts";
import { askRaw } from "../_support/raw_http.ts";

const SECRET = "a-secret-of-more-than-thirty-two-bytes";

/** All functions, with the database down. */
function createAll(siteUrl: string) {
  const config = readConfig({
    NEXT_PUBLIC_SITE_URL: siteUrl,
    SUPABASE_URL: "https://project.supabase.example",
    SUPABASE_PUBLISHABLE_KEY: "publishable",
    OAUTH_CODE_SECRET: SECRET,
    CRON_SECRET: SECRET,
  }, ["siteUrl"]);
  const nothing = () => Promise.reject(new Error("nothing is fetched here"));
  return createFunctions(() => ({
    config,
    database: { call: () => Promise.reject(new AppError("unavailable", "The database is down.")) },
    clock: () => new Date("2026-10-06T09:00:00Z"),
    log: createLog(() => {}),
    fetch: nothing,
    guardedFetch: nothing,
  }));
}

/** For routes that also cover the paths below them. */
const BELOW: Record<string, string> = { "/account/": "/account/disconnect", "/calendar/": "/calendar/one.ics" };

/** Every route, the bare path of every function, and an unknown path. */
const ADDRESSES = [
  ...ROUTES.map((route) => functionPath(route, BELOW[route.path] ?? route.path)),
  ...SLUGS.map((slug) => `/${slug}`),
  ...SLUGS.map((slug) => `/${slug}/where/nothing/is`),
];

/** Methods are case-sensitive, and names of object properties are valid methods too (RFC 9110 §9.1). */
const UNKNOWN = ["TRACE", "TRACK", "FOO", "PROPFIND", "get", "__proto__", "constructor", "toString"];

Deno.test("TRACE and unknown methods return 405 with Allow at every address of every function, and echo nothing", async () => {
  const functions = createAll("https://expenses.example");
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, functions);
  try {
    for (const path of ADDRESSES) {
      for (const method of UNKNOWN) {
        const answer = await askRaw(`http://127.0.0.1:${server.addr.port}${path}?q=canary`, {
          method,
          headers: { cookie: "session=canary" },
        });
        assertEquals(answer.status, 405, `${method} ${path}`);
        assert(answer.headers.get("allow"), `${method} ${path} does not say what it allows`);
        assertFalse(answer.body.includes("canary"), `${method} ${path} says again what it was sent`);
      }
    }
  } finally {
    await server.shutdown();
  }
});

Deno.test("Allow names exactly the methods that an endpoint serves", async () => {
  const functions = createAll("https://expenses.example");
  const ask = async (path: string, method: string) => {
    const response = await functions(new Request(FUNCTIONS_ORIGIN + path, { method }));
    await response.body?.cancel();
    return response;
  };
  for (const path of ADDRESSES.filter((path) => !path.endsWith("/nothing/is"))) {
    const allowed = (await ask(path, "FOO")).headers.get("allow")!.split(", ");
    for (const method of [...METHODS, "PUT", "PATCH"]) {
      const { status } = await ask(path, method);
      assertEquals(status !== 405, allowed.includes(method), `${method} ${path}: ${status}, Allow: ${allowed}`);
    }
  }
});

Deno.test("every response of an https site contains HSTS for its own host: pages, JSON, errors, redirects, preflights", async () => {
  for (
    const [siteUrl, expected] of [["https://expenses.example", "max-age=31536000"], ["http://127.0.0.1:54321", null]]
  ) {
    const functions = createAll(siteUrl!);
    const seen = new Set<number>();
    for (const path of ADDRESSES) {
      for (const method of [...METHODS, "FOO"]) {
        const response = await functions(new Request(FUNCTIONS_ORIGIN + path, { method }));
        await response.body?.cancel();
        seen.add(response.status);
        assertEquals(
          response.headers.get("strict-transport-security"),
          expected!,
          `${method} ${path}: ${response.status}`,
        );
      }
    }
    for (const status of [200, 204, 303, 400, 401, 404, 405, 503]) assert(seen.has(status), `no answer was ${status}`);
  }
});
