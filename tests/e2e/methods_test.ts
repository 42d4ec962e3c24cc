/** TRACE and unknown methods, over a bare socket, at every entry point of the running stack. */
import { assert, assertEquals, assertFalse } from "@std/assert";
import { functionPath, ROUTES, SLUGS } from "../../shared/routes.ts";
import { askRaw } from "../_support/raw_http.ts";
import { startStack } from "../_support/stack.ts";

const stack = await startStack();
Deno.test.afterAll(async () => void await stack.stop());

const ADDRESSES = [
  ...ROUTES.map(({ path }) => path),
  ...ROUTES.map((route) => `/functions/v1${functionPath(route, route.path)}`),
  ...SLUGS.map((slug) => `/functions/v1/${slug}`),
  "/where/nothing/is",
  "/functions/v1/nobody",
  "/rest/v1/rpc/call_tool",
  "/auth/v1/user",
  "/local/mail",
];

Deno.test("TRACE and unknown methods return 405 with Allow at every door of the stack", async () => {
  for (const path of ADDRESSES) {
    for (const method of ["TRACE", "FOO", "PROPFIND", "get", "__proto__"]) {
      const answer = await askRaw(`${stack.supabase_url}${path}?q=canary`, {
        method,
        headers: { cookie: "session=canary" },
      });
      assertEquals(answer.status, 405, `${method} ${path}`);
      assert(answer.headers.get("allow")?.includes("GET"), `${method} ${path} does not say what it allows`);
      assertFalse(answer.body.includes("canary"), `${method} ${path} says again what it was sent`);
    }
  }
  const connect = await askRaw(stack.supabase_url, { method: "CONNECT", target: "expenses.example:443" });
  assertEquals(connect.status, 405);
  assertFalse(stack.log().includes(`"failure"`), stack.log());
});

Deno.test("methods of Supabase's own APIs still pass", async () => {
  for (const method of ["PUT", "PATCH"]) {
    const response = await fetch(`${stack.supabase_url}/auth/v1/user`, { method });
    await response.body?.cancel();
    assertFalse([405, 500].includes(response.status), `${method}: ${response.status}`);
  }
});
