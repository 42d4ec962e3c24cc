/** Authentication: the credential, the database's verdict, and the refusals. */
import { assertEquals, assertMatch } from "@std/assert";
import { AppError } from "../../../shared/errors.ts";
import { ENVELOPE, ERA_NAMES, ERAS, messageOf, NO_PLAN, SITE, startConnector, SUPABASE, TOKEN } from "./harness.ts";

const LIST = ERAS["2025-11-25"]("tools/list").body;
const CALL = ERAS["2025-11-25"]("tools/call", { name: "get_context", arguments: {} }).body;
const INVALID = { outcome: "invalid_token" };

Deno.test("a request without credentials is challenged without naming an error", async () => {
  for (const authorization of [undefined, "Basic dXNlcjpwYXNz", "Bearer", "Bearer "]) {
    const { post, calls } = startConnector();
    const response = await post(LIST, { headers: { authorization, accept: "*/*" } });
    assertEquals(response.status, 401);
    assertEquals(
      response.headers.get("www-authenticate"),
      `Bearer realm="mcp", resource_metadata="${SITE}/api/mcp/.well-known/oauth-protected-resource", scope="expenses:rw"`,
    );
    assertEquals((await response.json()).id, null);
    assertEquals(calls, []);
  }
});

Deno.test("the challenge names the metadata document of the requested address", async () => {
  const response = await startConnector().post(LIST, {
    path: "/functions/v1/mcp",
    headers: { authorization: undefined },
  });
  assertMatch(
    response.headers.get("www-authenticate")!,
    new RegExp(`resource_metadata="${SUPABASE}/functions/v1/mcp/\\.well-known/oauth-protected-resource"`),
  );
});

Deno.test("a token in the query string is ignored", async () => {
  const { post, calls } = startConnector();
  const response = await post(LIST, {
    path: `/api/mcp?access_token=${TOKEN}`,
    headers: { authorization: undefined },
  });
  assertEquals([response.status, calls.length], [401, 0]);
});

Deno.test("a malformed credential returns 400, another kind of token 401, without a database call", async () => {
  const { post, calls } = startConnector();
  const malformed = await post(LIST, { headers: { authorization: `Bearer ${TOKEN}, Bearer ${TOKEN}` } });
  assertEquals(malformed.status, 400);
  assertMatch(malformed.headers.get("www-authenticate")!, /error="invalid_request"/);
  for (const token of ["exp_rt_" + "a".repeat(43), "eyJhbGciOiJIUzI1NiJ9.e30.c2ln", "sb_secret_abc"]) {
    const response = await post(LIST, { headers: { authorization: `Bearer ${token}` } });
    assertEquals(response.status, 401);
    assertMatch(response.headers.get("www-authenticate")!, /error="invalid_token"/);
  }
  assertEquals(calls, []);
});

Deno.test("a call on books in deletion is refused with the day and the URL to cancel it", async () => {
  const organization = { id: "org_acme00000000", name: "Acme" };
  const verdict = { outcome: "organization_deleting", deletes_on: "2026-12-07", organization };
  for (const body of [LIST, CALL]) {
    const { post } = startConnector({ authenticate_bearer: () => verdict, call_tool: () => verdict });
    const response = await post(body);
    assertEquals(response.status, 403);
    const { error } = await response.json();
    const url = `${SITE}/organizations/org_acme00000000/delete`;
    assertEquals(
      error.message,
      `The books of Acme will be deleted on 2026-12-07. The owner can cancel the deletion at ${url}`,
    );
    assertEquals(error.data, {
      code: "organization_deleting",
      deletes_on: "2026-12-07",
      organization,
      keep_url: url,
    });
  }
});

Deno.test("the scheme is case-insensitive, and the database sees only the token's hash", async () => {
  const { post, calls } = startConnector();
  assertEquals((await post(LIST, { headers: { authorization: `bEARER ${TOKEN}` } })).status, 200);
  assertEquals(calls, [{
    name: "authenticate_bearer",
    args: {
      token_hash: "98f10723f9546496e97724f4c76570db4cdb4b90781dd9453c4ed4eb9d4a52e6",
      resource: `${SITE}/api/mcp`,
      at: "2026-10-06T09:00:00.000Z",
    },
  }]);
});

Deno.test("an invalid token returns 401, whatever else is wrong with the request", async () => {
  const bodies: [unknown, Record<string, string>?][] = [
    [LIST],
    [CALL],
    [{ ...CALL, params: { name: "no_such_tool" } }],
    [{ ...CALL, params: { name: "log_expenses", arguments: { items: "none" } } }],
    [{ ...CALL, params: undefined }],
    [[LIST, LIST]],
    ["{"],
    [""],
    ["x".repeat(1_048_577)],
    [LIST, { "content-type": "text/plain" }],
    [LIST, { accept: "text/html" }],
    [LIST, { "mcp-protocol-version": "1999-01-01" }],
  ];
  for (const [body, headers] of bodies) {
    const { post } = startConnector({ authenticate_bearer: () => INVALID, call_tool: () => INVALID });
    const response = await post(body, { headers });
    assertEquals(response.status, 401, JSON.stringify([body, headers]).slice(0, 100));
    assertMatch(response.headers.get("www-authenticate")!, /scope="expenses:rw", error="invalid_token", error_desc/);
    assertEquals(await response.json(), {
      jsonrpc: "2.0",
      error: { code: -31401, message: "This access token is not valid. Sign in again." },
      id: null,
    });
  }
});

Deno.test("GET, HEAD and DELETE need a valid token too", async () => {
  for (const method of ["GET", "HEAD", "DELETE"]) {
    for (const accept of ["application/json", "text/event-stream"]) {
      const { request } = startConnector({ authenticate_bearer: () => INVALID });
      const response = await request(method, { headers: { accept } });
      assertEquals([response.status, response.headers.has("www-authenticate")], [401, true]);
    }
  }
});

for (const era of ERA_NAMES) {
  Deno.test(`a plan without the connector returns 403 with a hint, and no error in the challenge (${era})`, async () => {
    for (const [method, params] of [["tools/list", {}], ["tools/call", { name: "get_context" }]] as const) {
      const { post } = startConnector({ authenticate_bearer: () => NO_PLAN, call_tool: () => NO_PLAN });
      const { body, headers } = ERAS[era](method, params);
      const response = await post(body, { headers });
      assertEquals(response.status, 403);
      assertEquals(response.headers.get("www-authenticate")!.includes("error="), false);
      const { id, error } = await response.json();
      assertEquals(id, 7);
      assertEquals(error.code < -32768 || error.code > -32000, true);
      assertEquals(error.data, {
        code: "feature_not_in_plan",
        feature: "ai:connector",
        plan: "free",
        required_plan: "pro",
        organization: { id: "org_acme", name: "Acme" },
        upgrade_url: `${SITE}/organizations/org_acme/plan`,
      });
    }
  });
}

Deno.test("an unreachable database causes 503, never 401", async () => {
  const down = () => {
    throw new AppError("unavailable", "The service cannot reach its database.", {
      cause: new Error("connect ECONNREFUSED 10.0.0.1:5432"),
      headers: { "retry-after": "5" },
    });
  };
  const { post, request } = startConnector({ authenticate_bearer: down, call_tool: down });
  for (const response of [await post(LIST), await post(CALL), await request("GET"), await request("DELETE")]) {
    assertEquals([response.status, response.headers.get("retry-after")], [503, "5"]);
    assertEquals((await response.text()).includes("ECONNREFUSED"), false);
  }
});

Deno.test("a malformed database result causes 503, never 401", async () => {
  for (const nonsense of [null, "ok", [], {}, { outcome: "banana" }, { outcome: "limited" }]) {
    const answer = () => nonsense;
    const { post, request } = startConnector({ authenticate_bearer: answer, call_tool: answer });
    for (const response of [await post(LIST), await post(CALL), await request("GET"), await request("DELETE")]) {
      assertEquals([response.status, response.headers.get("retry-after")], [503, "5"], JSON.stringify(nonsense));
      assertEquals(response.headers.get("www-authenticate"), null);
      await response.body?.cancel();
    }
  }
  const { post } = startConnector({ call_tool: () => ({ outcome: "ok" }) });
  assertEquals((await post(CALL)).status, 503);
});

Deno.test("a limit reached in the database causes 429 with the time to wait", async () => {
  const limited = () => {
    throw new AppError("rate_limited", "Too many calls.", { headers: { "retry-after": "12" } });
  };
  const { post } = startConnector({ authenticate_bearer: limited, call_tool: limited });
  for (const body of [LIST, CALL]) {
    const response = await post(body);
    assertEquals([response.status, response.headers.get("retry-after")], [429, "12"]);
    assertEquals((await response.json()).error.code, -31429);
  }
});

Deno.test("each request is authenticated anew", async () => {
  let isRevoked = false;
  const { post } = startConnector({
    call_tool: () => isRevoked ? INVALID : { outcome: "ok", result: ENVELOPE },
  });
  assertEquals((await messageOf(await post(CALL))).result.structuredContent.ok, true);
  isRevoked = true;
  assertEquals((await post(CALL)).status, 401);
});
