/** The input that `task start -- --production` accepts; tests/self_hosting/ runs the service. */
import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { createIdentityProvider } from "../../local/auth/identity_provider.ts";
import { readAuthSettings } from "../../local/auth/settings.ts";
import type { SqlDatabase } from "../../local/database/sql.ts";
import { parseOptions, UsageError } from "../../local/options.ts";
import { createProductionRouter } from "../../local/production.ts";

const SITE = "https://expenses.example";
const SECRET = "the front door's";

Deno.test("the port serves the front door to the caller that the proxy names", async () => {
  const seen: Record<string, string | null>[] = [];
  const answer = createProductionRouter({
    siteUrl: SITE,
    frontDoorSecret: SECRET,
    functions: (request) => {
      const { pathname } = new URL(request.url);
      const header = (name: string) => request.headers.get(name);
      seen.push({
        pathname,
        caller: header("x-forwarded-for"),
        proof: header("x-front-door-secret"),
        direct: header("x-direct"),
      });
      return Promise.resolve(new Response("ok"));
    },
  });
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const response = await answer(new Request(`http://evil.example${path}`, { headers }), { address: "127.0.0.1" });
    assertEquals(
      response.headers.get("strict-transport-security"),
      path.startsWith("/functions") && !headers.via ? null : "max-age=31536000",
    );
    return seen.at(-1)!;
  };
  const invented = { "x-front-door-secret": "mine", "x-direct": "1", "cf-connecting-ip": "203.0.113.7" };
  const login = { pathname: "/auth-callback/login", proof: SECRET, direct: null };
  assertEquals(await ask("/login", { ...invented, "x-forwarded-for": "203.0.113.8, 198.51.100.1" }), {
    ...login,
    caller: "198.51.100.1",
  });
  assertEquals(await ask("/login", invented), { ...login, caller: "127.0.0.1" });
  for (const path of ["/auth/v1/otp", "/rest/v1/rpc/ping", "/local/mail", "/functions/v1/oauth/api/oauth/token"]) {
    assertEquals((await ask(path, { via: "1" })).pathname, "/auth-callback/not-found/", path);
  }
  const call = "/functions/v1/cron-reminders";
  assertEquals((await ask(call)).pathname, "/cron-reminders");
  assertEquals((await ask(call, { via: "1" })).pathname, "/auth-callback/not-found/");
});

Deno.test("the identity provider refuses requests that no page makes: passwords, sign-up, administration, its own links", async () => {
  const never = () => Promise.reject(new Error("reached"));
  const database = { query: never, exec: never, transaction: never, listen: never, close: never } as SqlDatabase;
  const provider = createIdentityProvider({
    database,
    settings: await readAuthSettings(),
    siteUrl: SITE,
    publicUrl: SITE,
    jwtSecret: "x",
    publishableKey: "public",
    secretKey: "secret",
    isHardened: true,
    sendMail: never,
    passOn: never,
  });
  const ask = (method: string, path: string, body?: object) =>
    provider(
      new Request(`${SITE}/auth/v1${path}`, {
        method,
        headers: { apikey: "secret", "content-type": "application/json" },
        ...body && { body: JSON.stringify(body) },
      }),
    );
  const refused: [string, string, object?][] = [
    ["POST", "/token?grant_type=password", { email: "a@example.com", password: "x" }],
    ["POST", "/token?grant_type=id_token", {}],
    ["POST", "/signup", { email: "a@example.com", password: "secret1" }],
    ["PUT", "/user", { email: "a@example.com", password: "secret1" }],
    ["GET", "/admin/users"],
    ["POST", "/admin/users", { email: "a@example.com" }],
    ["GET", "/verify?token=x&type=magiclink"],
    ["GET", "/authorize?provider=google"],
    ["POST", "/recover", { email: "a@example.com" }],
    ["GET", "/settings"],
  ];
  for (const [method, path, body] of refused) {
    assertEquals((await ask(method, path, body)).status, 404, `${method} ${path}`);
  }
  // A request of the pages reaches the database.
  const reached = await ask("POST", "/verify", { type: "email", email: "a@example.com", token: "123456" }).catch(
    String,
  );
  assertStringIncludes(String(reached), "reached");
});

Deno.test("--production accepts a port and --no-schedules, and no other option", () => {
  const { production, port, schedules } = parseOptions(["--", "--production", "--port", "7401", "--no-schedules"]);
  assertEquals([production, port, schedules], [true, 7401, false]);
  for (
    const surplus of ["--db=postgres://x@127.0.0.1/x", "--data=x", "--fresh", "--no-demo", "--demo-rates", "--json"]
  ) {
    assertThrows(() => parseOptions(["--production", surplus]), UsageError, surplus);
  }
});
