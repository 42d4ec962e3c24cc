/** An outage must look like one: a client that hears invalid_grant throws its login away. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { createDatabase } from "../../../shared/db/client.ts";
import { issueCode } from "../../../shared/oauth/authorization_code.ts";
import {
  authorizationQuery,
  CALLBACK,
  CHALLENGE,
  createHarness,
  exchangeFields,
  refreshFields,
  RESOURCE,
  START,
} from "./harness.ts";

/** What stands between the function and its database when something is wrong, and what the caller is to be told. */
const OUTAGES: Record<string, { answer: () => Promise<Response>; status: number; error: string }> = {
  "refuses connections": {
    answer: () => Promise.reject(new TypeError("connection refused")),
    status: 503,
    error: "temporarily_unavailable",
  },
  "answers 503": {
    answer: () => Promise.resolve(new Response("{}", { status: 503 })),
    status: 503,
    error: "temporarily_unavailable",
  },
  "is out of connections": {
    answer: () => Promise.resolve(Response.json({ code: "53300", message: "too many clients" }, { status: 500 })),
    status: 503,
    error: "temporarily_unavailable",
  },
  "answers with nothing": {
    answer: () => Promise.resolve(Response.json(null)),
    status: 503,
    error: "temporarily_unavailable",
  },
  "lacks the function": {
    answer: () => Promise.resolve(Response.json({ code: "42883", message: "no function x(secret)" }, { status: 404 })),
    status: 500,
    error: "server_error",
  },
};

const person = { id: crypto.randomUUID(), email: "outage@example.com" };

for (const [what, { answer, status, error }] of Object.entries(OUTAGES)) {
  Deno.test(`a database that ${what} is ${status} everywhere`, async () => {
    const database = createDatabase({ url: "https://ref.supabase.example", key: "sb_secret_x", fetch: answer });
    const harness = createHarness(database);
    const code = await issueCode(["a-secret-of-more-than-thirty-two-bytes"], {
      id: crypto.randomUUID(),
      clientId: "client_a",
      redirectUri: CALLBACK,
      userId: person.id,
      organizationId: "org_acme00000000",
      resource: RESOURCE,
      codeChallenge: CHALLENGE,
    }, START);
    const responses = [
      await harness.post("token", exchangeFields("client_a", code)),
      await harness.post("token", exchangeFields("client_a", code, { code_verifier: "x".repeat(43) })),
      await harness.post("token", exchangeFields("client_a", "x.y")),
      await harness.post("token", refreshFields("client_a", `exp_rt_${"x".repeat(43)}`)),
      await harness.post("revoke", { client_id: "client_a", token: "x" }),
      await harness.register({ redirect_uris: [CALLBACK] }),
    ];
    for (const response of responses) {
      const body = await response.json();
      assertEquals([response.status, body.error], [status, error]);
      assertEquals(JSON.stringify(body).includes("secret"), false);
    }
    const page = await harness.get(authorizationQuery("client_a"), person);
    assertEquals([page.status, page.headers.get("location")], [status, null]);
    assertStringIncludes(await page.text(), "<h1>");
  });
}

Deno.test("an identity provider that does not answer is a page that says so, and no redirect", async () => {
  const harness = createHarness({ call: () => Promise.reject(new Error("unexpected")) });
  harness.identityProvider.isDown = true;
  const page = await harness.get(authorizationQuery("client_a"), person);
  assertEquals([page.status, page.headers.get("location"), page.headers.get("set-cookie")], [503, null, null]);
  await page.body?.cancel();
});
