/** An authorization request: its page, and errors on a page or by redirect. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  answerOf,
  authorizationQuery,
  CALLBACK,
  CHALLENGE,
  createPerson,
  type Fields,
  registerClient,
  RESOURCE,
  SITE,
} from "./harness.ts";
import { ask, clientId, database, harness, person } from "./authorizing.ts";

Deno.test("a signed-in person sees the consent page after one database call", async () => {
  harness.calls.length = 0;
  const { status, text, response } = await ask({ scope: "openid offline_access", resource: `${RESOURCE}/` });
  assertEquals([status, harness.calls], [200, ["open_consent"]]);
  for (const [index, plan] of ["free", "pro", "team"].entries()) {
    assertStringIncludes(text, `name="organization_id" value="${person.organizations[index]}"`);
    assertStringIncludes(text, `${plan} of authorize@example.com`);
  }
  assertMatch(text, new RegExp(`value="${person.organizations[0]}"[^>]* disabled=""`));
  assertMatch(text, new RegExp(`value="${person.organizations[1]}"[^>]* checked=""`));
  assertStringIncludes(text, "Needs the Pro plan");
  for (const action of ["approve", "deny"]) assertStringIncludes(text, `name="action" value="${action}"`);
  assertEquals(response.headers.get("x-frame-options"), "DENY");
  assertEquals(response.headers.get("cross-origin-opener-policy"), "same-origin");
  const policy = response.headers.get("content-security-policy")!;
  assertStringIncludes(policy, "form-action 'self' http://localhost:54123");
  assertStringIncludes(policy, "frame-ancestors 'none'");
  assertStringIncludes(policy, "default-src 'none'");
});

Deno.test("the page names the redirect target and warns of unverified clients", async () => {
  const shown = async (client_name: string, redirect_uri: string) => {
    const id = await registerClient(harness, { client_name, redirect_uris: [redirect_uri] });
    const response = await harness.get(authorizationQuery(id, { redirect_uri }), person);
    const policy = response.headers.get("content-security-policy")!;
    return { text: (await response.text()).replaceAll(/<[^>]+>/g, ""), policy };
  };
  const hosted = await shown("Claude", "https://claude.ai/api/mcp/auth_callback");
  assertStringIncludes(hosted.text, "Claude wants to use your expenses");
  assertStringIncludes(hosted.text, "Claude, by Anthropic (verified: claude.ai)");
  assertStringIncludes(hosted.text, "send you back to claude.ai");
  assertEquals(hosted.text.includes("can’t tell"), false);
  assertStringIncludes(hosted.policy, "form-action 'self' https://claude.ai https:;");

  const borrowed = await shown("Claude", "https://evil.example/cb");
  assertStringIncludes(borrowed.text, "Unverified app");
  assertStringIncludes(borrowed.text, "we can’t tell whether evil.example belongs to it");
  const alike = await shown("Ⲥlaude", "http://127.0.0.1:9/callback");
  assertStringIncludes(alike.text, "Some letters in Ⲥlaude look like others");
  const local = await shown("Claude Code", "http://127.0.0.1:9/callback");
  assertStringIncludes(local.text, "an app on this computer (127.0.0.1)");
  const scheme = await shown("Cursor", "cursor://anysphere.cursor-mcp/oauth/callback");
  assertStringIncludes(scheme.text, "open the app Cursor");
  assertStringIncludes(scheme.text, "Any app on this device can claim to be Cursor");
  assertStringIncludes(scheme.policy, "form-action 'self' cursor:;");
});

Deno.test("a hostile name is shown as a name", async () => {
  const client_name = `<script>alert(1)</script>\u202e"onload=x ${"very ".repeat(40)}`;
  const id = await registerClient(harness, { client_name });
  const text = await (await harness.get(authorizationQuery(id), person)).text();
  assertEquals(text.includes("<script>alert"), false);
  assertEquals(text.includes("\u202e"), false);
  assertStringIncludes(text, "&lt;script&gt;alert(1)&lt;/script&gt;&quot;onload=x very");
  assertEquals(text.includes("very ".repeat(20)), false);
});

Deno.test("until client and redirect URI are verified, an error shows a page without a redirect", async () => {
  const requests: Fields[] = [
    { client_id: undefined },
    { client_id: "client_gone" },
    { client_id: "\u0000" },
    { client_id: "https://unknown.example/client.json" },
    { redirect_uri: undefined },
    { redirect_uri: "" },
    { redirect_uri: "https://evil.example/" },
    { redirect_uri: `${CALLBACK}/` },
    { redirect_uri: "http://127.0.0.1:54123/callback" },
    { redirect_uri: "javascript:alert(1)" },
    { redirect_uri: `${CALLBACK}#x` },
  ];
  for (const visitor of [person, null]) {
    for (const request of requests) {
      const { status, location, text, response } = await ask(request, visitor);
      assertEquals([status, location], [400, null]);
      assertStringIncludes(response.headers.get("content-type")!, "text/html");
      assertStringIncludes(text, "Nothing was connected.");
      assertEquals(text.includes("evil.example"), false);
    }
  }
});

Deno.test("a page refuses a repeated parameter", async () => {
  for (const name of ["client_id", "redirect_uri", "state", "resource", "code_challenge", "scope", "prompt"]) {
    const response = await harness.get(`${authorizationQuery(clientId, { [name]: "a" })}&${name}=b`, person);
    assertEquals([response.status, response.headers.get("location")], [400, null]);
    await response.body?.cancel();
  }
});

Deno.test("other errors are sent to the client, with issuer and state", async () => {
  const refused: [Fields, string][] = [
    [{ response_type: "token" }, "unsupported_response_type"],
    [{ response_mode: "fragment" }, "invalid_request"],
    [{ response_mode: "form_post" }, "invalid_request"],
    [{ request: "eyJ" }, "request_not_supported"],
    [{ request_uri: "https://evil.example/" }, "request_not_supported"],
    [{ code_challenge: undefined }, "invalid_request"],
    [{ code_challenge: CHALLENGE.slice(1) }, "invalid_request"],
    [{ code_challenge_method: "plain" }, "invalid_request"],
    [{ resource: "https://other.example/mcp" }, "invalid_target"],
  ];
  for (const [request, error] of refused) {
    const { status, response, location } = await ask(request);
    const { error_description, ...answer } = answerOf(response);
    assertEquals([status, answer], [302, { error, state: "xyz", iss: SITE }]);
    assertEquals(typeof error_description, "string");
    assertEquals(location!.startsWith(`${CALLBACK}?`), true);
  }
});

Deno.test("state is returned unchanged, and omitted if absent", async () => {
  for (const state of ["\r\nSet-Cookie: x=1", "a+b c&code=1#x", "é😀\u202e", "%2e", "x".repeat(2048)]) {
    assertEquals(answerOf((await ask({ state, response_type: "token" })).response).state, state);
  }
  assertEquals("state" in answerOf((await ask({ state: undefined, response_type: "token" })).response), false);
  const { error, state } = answerOf((await ask({ state: "x".repeat(2049) })).response);
  assertEquals([error, state], ["invalid_request", undefined]);
});

Deno.test("signing in leads back to the same request", async () => {
  const { status, location } = await ask({ state: "a/b?c", scope: "openid" }, null);
  assertEquals(status, 302);
  assertMatch(location!, /^\/login\?next=%2Fapi%2Foauth%2Fauthorize%3F/);
  const next = new URL(location!, SITE).searchParams.get("next")!;
  const { asked_by, ...request } = Object.fromEntries(new URL(next, SITE).searchParams);
  assertMatch(asked_by!, /^[\w-]+\.[\w-]+$/);
  // The return path ignores any claimed requester.
  assertEquals((await harness.get(next, person)).status, 200);
  assertEquals(request, {
    client_id: clientId,
    redirect_uri: CALLBACK,
    code_challenge: CHALLENGE,
    state: "a/b?c",
    scope: "openid",
  });
});

Deno.test("a new person is onboarded first, and a person without an organization creates one", async () => {
  const newcomer = { id: crypto.randomUUID(), email: "newcomer@example.com" };
  const { status, location } = await ask({}, newcomer);
  assertEquals(status, 302);
  assertMatch(location!, /^\/onboarding\?next=%2Fapi%2Foauth%2Fauthorize%3F/);
  const lonely = await ask({}, await createPerson(database, "lonely@example.com", []));
  assertEquals(lonely.status, 302);
  assertMatch(lonely.location!, /^\/organizations\/new\?next=%2Fapi%2Foauth%2Fauthorize%3F/);
  // A person with an organization can create another one and returns.
  const { text } = await ask({}, person);
  assertMatch(text, /href="\/organizations\/new\?next=%2Fapi%2Foauth%2Fauthorize%3F/);
});

Deno.test("the consent endpoint accepts only GET, HEAD and POST", async () => {
  for (const method of ["PUT", "OPTIONS", "DELETE"]) {
    const response = await harness.request("/api/oauth/authorize", { method });
    assertEquals([response.status, response.headers.get("allow")], [405, "GET, HEAD, POST"]);
    assertEquals(response.headers.get("access-control-allow-origin"), null);
    await response.body?.cancel();
  }
  const head = await harness.request(authorizationQuery(clientId), { method: "HEAD" });
  assertEquals([head.status, await head.text()], [302, ""]);
});
