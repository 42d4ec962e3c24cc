/** A client must recognize an outage, because it discards its login when it receives invalid_grant. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { AppError } from "../../../shared/errors.ts";
import { createDatabase } from "../../../shared/db/client.ts";
import { openDatabase } from "../../_support/database.ts";
import { issueCode } from "../../../shared/oauth/authorization_code.ts";
import {
  authorizationQuery,
  CALLBACK,
  CHALLENGE,
  connect,
  createHarness,
  createPerson,
  exchangeFields,
  outcomeOf,
  refreshFields,
  registerClient,
  RESOURCE,
  START,
} from "./harness.ts";

/** Faults between the function and its database, and the error for the caller. */
const OUTAGES: Record<string, { answer: () => Promise<Response>; status: number; error: string }> = {
  "refuses connections": {
    answer: () => Promise.reject(new TypeError("connection refused")),
    status: 503,
    error: "temporarily_unavailable",
  },
  "returns 503": {
    answer: () => Promise.resolve(new Response("{}", { status: 503 })),
    status: 503,
    error: "temporarily_unavailable",
  },
  "is out of connections": {
    answer: () => Promise.resolve(Response.json({ code: "53300", message: "too many clients" }, { status: 500 })),
    status: 503,
    error: "temporarily_unavailable",
  },
  "returns an empty answer": {
    answer: () => Promise.resolve(Response.json(null)),
    status: 503,
    error: "temporarily_unavailable",
  },
  "returns an empty object": {
    answer: () => Promise.resolve(Response.json({})),
    status: 503,
    error: "temporarily_unavailable",
  },
  "returns a list": {
    answer: () => Promise.resolve(Response.json(["rotated"])),
    status: 503,
    error: "temporarily_unavailable",
  },
  "returns an unknown outcome": {
    answer: () => Promise.resolve(Response.json({ outcome: "banana" })),
    status: 503,
    error: "temporarily_unavailable",
  },
  "returns ok without details": {
    answer: () => Promise.resolve(Response.json({ outcome: "rotated" })),
    status: 503,
    error: "temporarily_unavailable",
  },
  "returns another server's page": {
    answer: () => Promise.resolve(new Response("<h1>Bad gateway</h1>", { status: 502 })),
    status: 503,
    error: "temporarily_unavailable",
  },
  "drops the connection halfway": {
    answer: () =>
      Promise.resolve(new Response('{"outcome": "rot', { headers: { "content-type": "application/json" } })),
    status: 503,
    error: "temporarily_unavailable",
  },
  "does not respond in time": {
    answer: () => Promise.reject(new DOMException("The signal has been aborted", "TimeoutError")),
    status: 503,
    error: "temporarily_unavailable",
  },
  "cancels a slow statement": {
    answer: () => Promise.resolve(Response.json({ code: "57014", message: "canceling statement" }, { status: 500 })),
    status: 503,
    error: "temporarily_unavailable",
  },
  "is behind its migrations": {
    answer: () => Promise.resolve(Response.json({ code: "42883", message: "no function x(secret)" }, { status: 404 })),
    status: 503,
    error: "temporarily_unavailable",
  },
  "fails with an unexpected error": {
    answer: () => Promise.resolve(Response.json({ code: "XX000", message: "secret" }, { status: 500 })),
    status: 500,
    error: "server_error",
  },
};

const person = { id: crypto.randomUUID(), email: "outage@example.com" };

for (const [what, { answer, status, error }] of Object.entries(OUTAGES)) {
  Deno.test(`a database that ${what} causes ${status} everywhere`, async () => {
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
      access: "write",
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
      if (status === 503) assertEquals(response.headers.get("retry-after"), "5");
    }
    const page = await harness.get(authorizationQuery("client_a"), person);
    assertEquals([page.status, page.headers.get("location")], [status, null]);
    assertStringIncludes(await page.text(), "<h1>");
  });
}

Deno.test("a login interrupted by an outage continues afterwards, even when only the response was lost", async () => {
  await using database = await openDatabase();
  const lost = { how: undefined as undefined | "before" | "after" };
  const harness = createHarness({
    async call<Result>(name: string, args: Record<string, unknown>): Promise<Result> {
      if (lost.how === "before") throw new AppError("unavailable", "down");
      const answer = await database.asService<Result>(name, args);
      if (lost.how === "after") throw new AppError("unavailable", "down");
      return answer;
    },
  });
  const member = await createPerson(database, "outage@example.com", ["team"]);
  const clientId = await registerClient(harness);
  let { refresh_token, access_token } = await connect(harness, { clientId, person: member });
  for (const how of ["before", "after", "before"] as const) {
    lost.how = how;
    for (let n = 0; n < 3; n++) {
      const response = await harness.post("token", refreshFields(clientId, refresh_token));
      assertEquals([response.status, (await response.json()).error], [503, "temporarily_unavailable"]);
    }
    lost.how = undefined;
    harness.later(30);
    const response = await harness.post("token", refreshFields(clientId, refresh_token));
    assertEquals(response.status, 200);
    ({ refresh_token, access_token } = await response.json());
    assertEquals(await outcomeOf(database, access_token, harness.clock.now), "ok");
  }
});

Deno.test("an unreachable identity provider causes an error page without a redirect", async () => {
  const harness = createHarness({ call: () => Promise.reject(new Error("unexpected")) });
  harness.identityProvider.isDown = true;
  const page = await harness.get(authorizationQuery("client_a"), person);
  assertEquals([page.status, page.headers.get("location"), page.headers.get("set-cookie")], [503, null, null]);
  await page.body?.cancel();
});
