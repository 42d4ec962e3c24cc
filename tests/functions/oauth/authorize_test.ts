import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { openDatabase } from "../../_support/database.ts";
import {
  answerOf,
  authorizationQuery,
  CALLBACK,
  CHALLENGE,
  createHarness,
  createPerson,
  exchangeFields,
  type Fields,
  over,
  type Person,
  registerClient,
  RESOURCE,
  SITE,
} from "./harness.ts";

const database = await openDatabase();
Deno.test.afterAll(() => database.close());
const person = await createPerson(database, "authorize@example.com", ["free", "pro", "team"]);
const harness = createHarness(over(database));
const clientId = await registerClient(harness);

/** Answers a request, after checking what must hold for every page and redirect. */
async function ask(more: Fields = {}, visitor: Person | null = person) {
  const response = await harness.get(authorizationQuery(clientId, more), visitor);
  const text = await response.text();
  const location = response.headers.get("location");
  assertEquals(response.headers.get("cache-control"), "no-store");
  assertEquals(response.headers.get("referrer-policy"), location ? "no-referrer" : "same-origin");
  assertEquals(response.headers.get("access-control-allow-origin"), null);
  return { status: response.status, text, location, response };
}

Deno.test("a person who is signed in sees what is asked, by one database call", async () => {
  harness.calls.length = 0;
  const { status, text, response } = await ask({ scope: "openid offline_access", resource: `${RESOURCE}/` });
  assertEquals([status, harness.calls], [200, ["open_consent"]]);
  for (const [index, plan] of ["free", "pro", "team"].entries()) {
    assertStringIncludes(text, `name="organization_id" value="${person.organizations[index]}"`);
    assertStringIncludes(text, `${plan} of authorize@example.com`);
  }
  assertMatch(text, new RegExp(`value="${person.organizations[0]}"[^>]* disabled=""`));
  assertMatch(text, new RegExp(`value="${person.organizations[1]}"[^>]* checked=""`));
  assertStringIncludes(text, "needs the Pro plan");
  for (const action of ["approve", "deny"]) assertStringIncludes(text, `name="action" value="${action}"`);
  assertEquals(response.headers.get("x-frame-options"), "DENY");
  assertEquals(response.headers.get("cross-origin-opener-policy"), "same-origin");
  const policy = response.headers.get("content-security-policy")!;
  assertStringIncludes(policy, "form-action 'self' http://localhost:54123");
  assertStringIncludes(policy, "frame-ancestors 'none'");
  assertStringIncludes(policy, "default-src 'none'");
});

Deno.test("the page says where the answer goes, and warns of what cannot be checked", async () => {
  const shown = async (client_name: string, redirect_uri: string) => {
    const id = await registerClient(harness, { client_name, redirect_uris: [redirect_uri] });
    const response = await harness.get(authorizationQuery(id, { redirect_uri }), person);
    const policy = response.headers.get("content-security-policy")!;
    return { text: (await response.text()).replaceAll(/<[^>]+>/g, ""), policy };
  };
  const hosted = await shown("Claude", "https://claude.ai/api/mcp/auth_callback");
  assertStringIncludes(hosted.text, "Claude wants to use your expenses");
  assertStringIncludes(hosted.text, "Claude, by Anthropic (verified: claude.ai)");
  assertStringIncludes(hosted.text, "sends you back to claude.ai");
  assertEquals(hosted.text.includes("can’t tell"), false);
  assertStringIncludes(hosted.policy, "form-action 'self' https://claude.ai https:;");

  const borrowed = await shown("Claude", "https://evil.example/cb");
  assertStringIncludes(borrowed.text, "We can’t confirm who made this app");
  assertStringIncludes(borrowed.text, "we can’t tell whether evil.example belongs to it");
  const alike = await shown("Ⲥlaude", "http://127.0.0.1:9/callback");
  assertStringIncludes(alike.text, "Some letters in Ⲥlaude look like others");
  const local = await shown("Claude Code", "http://127.0.0.1:9/callback");
  assertStringIncludes(local.text, "an app on this computer (127.0.0.1)");
  const scheme = await shown("Cursor", "cursor://anysphere.cursor-mcp/oauth/callback");
  assertStringIncludes(scheme.text, "opens the app Cursor");
  assertStringIncludes(scheme.text, "Any app on this device can claim to be Cursor");
  assertStringIncludes(scheme.policy, "form-action 'self' cursor:;");
});

Deno.test("a hostile name stays a name", async () => {
  const client_name = `<script>alert(1)</script>\u202e"onload=x ${"very ".repeat(40)}`;
  const id = await registerClient(harness, { client_name });
  const text = await (await harness.get(authorizationQuery(id), person)).text();
  assertEquals(text.includes("<script>alert"), false);
  assertEquals(text.includes("\u202e"), false);
  assertStringIncludes(text, "&lt;script&gt;alert(1)&lt;/script&gt;&quot;onload=x very");
  assertEquals(text.includes("very ".repeat(20)), false);
});

Deno.test("until client and redirect URI are verified, there is a page and no redirect", async () => {
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

Deno.test("a parameter that is there twice is refused on a page", async () => {
  for (const name of ["client_id", "redirect_uri", "state", "resource", "code_challenge", "scope", "prompt"]) {
    const response = await harness.get(`${authorizationQuery(clientId, { [name]: "a" })}&${name}=b`, person);
    assertEquals([response.status, response.headers.get("location")], [400, null]);
    await response.body?.cancel();
  }
});

Deno.test("what is wrong with the rest is told to the client, with issuer and state", async () => {
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

/** Connects the client at one redirect URI, as the signed-in person. */
async function connectAt(id: string, redirect_uri: string, who: Person & { organizations: string[] } = person) {
  const page = await (await harness.get(authorizationQuery(id, { redirect_uri }), who)).text();
  const decided = await harness.decide(page, { action: "approve", organization_id: who.organizations.at(-1) }, who);
  const { code } = answerOf(decided);
  assertEquals((await harness.post("token", exchangeFields(id, code!, { redirect_uri }))).status, 200);
}

/** Errors found before the person is asked. */
const EARLY_ERRORS: [Fields, string][] = [
  [{ code_challenge: undefined }, "invalid_request"],
  [{ response_type: "token" }, "unsupported_response_type"],
  [{ prompt: "none" }, "consent_required"],
  [{ prompt: "none", code_challenge: undefined }, "invalid_request"],
];

Deno.test("nobody is sent on to a stranger's website unasked: what is wrong is said on a page, with where the answer would go", async () => {
  const redirect_uri = "https://evil.example/cb";
  const id = await registerClient(harness, { redirect_uris: [redirect_uri, "https://evil.example/other"] });
  // Approval by somebody else, for example its own makers, does not count.
  await connectAt(id, redirect_uri, await createPerson(database, "evil@example.com", ["team"]));
  for (const visitor of [null, person]) {
    for (const [request, error] of EARLY_ERRORS) {
      const { status, location, text } = await ask({ client_id: id, redirect_uri, ...request }, visitor);
      assertEquals([status, location], [400, null]);
      assertStringIncludes(text, "An app of evil.example sent you here");
      const link = /href="(https:\/\/evil[^"]+)"[^>]*>Go to evil\.example</.exec(text)![1]!.replaceAll("&amp;", "&");
      const expected = !visitor && error === "consent_required" ? "login_required" : error;
      const { error_description, ...answer } = Object.fromEntries(new URL(link).searchParams);
      assertEquals([answer, typeof error_description], [{ error: expected, state: "xyz", iss: SITE }, "string"]);
    }
  }
  await connectAt(id, redirect_uri);
  for (const [request] of EARLY_ERRORS) {
    assertEquals((await ask({ client_id: id, redirect_uri, ...request })).status, 302);
    assertEquals((await ask({ client_id: id, redirect_uri, ...request }, null)).status, 400);
    // Approval covers the redirect URI, not the client at any URI.
    assertEquals((await ask({ client_id: id, redirect_uri: "https://evil.example/other", ...request })).status, 400);
  }
  await database.query(
    "update oauth.grants set revoked_at = $2, revocation_reason = 'revoked_by_user' where client_id = $1",
    [id, "2026-11-20T10:00:00Z"],
  );
  assertEquals((await ask({ client_id: id, redirect_uri, prompt: "none" })).status, 400);
});

Deno.test("Medium 4: prompt=none leads nowhere that the person has not approved, to no maker's callback and to no app on the device", async () => {
  for (
    const redirect_uri of [
      "https://claude.ai/api/mcp/auth_callback",
      "http://localhost:54123/callback",
      "cursor://anysphere.cursor-mcp/oauth/callback",
    ]
  ) {
    const id = await registerClient(harness, { redirect_uris: [redirect_uri] });
    const sent = { client_id: id, redirect_uri };
    for (const visitor of [null, person]) {
      const { status, location, text } = await ask({ ...sent, prompt: "none" }, visitor);
      assertEquals([status, location], [400, null], redirect_uri);
      assertStringIncludes(text, "Nothing was connected.");
      assertStringIncludes(text, `href="${redirect_uri}?error=`);
      // With a person present, redirects to an app of theirs or to a known maker are allowed.
      assertEquals((await ask({ ...sent, response_type: "token" }, visitor)).status, 302, redirect_uri);
    }
    await connectAt(id, redirect_uri);
    assertEquals(answerOf((await ask({ ...sent, prompt: "none" })).response).error, "consent_required");
    assertEquals((await ask({ ...sent, prompt: "none" }, null)).status, 400);
  }
});

Deno.test("Medium 4: no open redirector of a known maker is a redirect, and what VS Code's forwards leads nowhere unasked", async () => {
  const redirectors = [
    "https://www.google.com/url?q=https://evil.example",
    "https://www.google.de/url?q=https://evil.example",
    "https://script.google.com/macros/s/abc/exec",
    "https://github.com/login?return_to=/evil",
    "https://claude.ai/redirect?to=https://evil.example",
    "https://vscode.dev/redirect?url=https://evil.example",
    "https://vscode.dev/redirect/",
  ];
  for (const redirect_uri of redirectors) {
    const refused = await harness.register({ client_name: "Tester", redirect_uris: [redirect_uri] });
    assertEquals([refused.status, (await refused.json()).error], [400, "invalid_redirect_uri"], redirect_uri);
    // Nor for a client that registered it before it was known.
    const id = await registerClient(harness);
    await database.query("update oauth.clients set redirect_uris = array[$2] where client_id = $1", [id, redirect_uri]);
    for (const visitor of [null, person]) {
      const { status, location, text } = await ask({ client_id: id, redirect_uri, prompt: "none" }, visitor);
      assertEquals([status, location, text.includes("evil.example")], [400, null, false], redirect_uri);
    }
  }

  const redirect_uri = "https://vscode.dev/redirect";
  const id = await registerClient(harness, { client_name: "Visual Studio Code", redirect_uris: [redirect_uri] });
  const sent = { client_id: id, redirect_uri, state: "https://evil.example/" };
  assertStringIncludes((await ask(sent)).text, "vscode.dev passes our answer on");
  await connectAt(id, redirect_uri);
  for (const visitor of [null, person]) {
    for (const [request] of EARLY_ERRORS) assertEquals((await ask({ ...sent, ...request }, visitor)).status, 400);
  }
});

Deno.test("state comes back exactly as it was, and not at all when there was none", async () => {
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
  // The way back ignores any claimed requester.
  assertEquals((await harness.get(next, person)).status, 200);
  assertEquals(request, {
    client_id: clientId,
    redirect_uri: CALLBACK,
    code_challenge: CHALLENGE,
    state: "a/b?c",
    scope: "openid",
  });
});

Deno.test("a newcomer goes through onboarding first, and a person without an organization is told so", async () => {
  const newcomer = { id: crypto.randomUUID(), email: "newcomer@example.com" };
  const { status, location } = await ask({}, newcomer);
  assertEquals(status, 302);
  assertMatch(location!, /^\/onboarding\?next=%2Fapi%2Foauth%2Fauthorize%3F/);
  const lonely = await ask({}, await createPerson(database, "lonely@example.com", []));
  assertEquals([lonely.status, lonely.location], [403, null]);
  assertStringIncludes(lonely.text, "You’re not in any organization");
});

Deno.test("the consent address answers nothing but GET, HEAD and POST", async () => {
  for (const method of ["PUT", "OPTIONS", "DELETE"]) {
    const response = await harness.request("/api/oauth/authorize", { method });
    assertEquals([response.status, response.headers.get("allow")], [405, "GET, HEAD, POST"]);
    assertEquals(response.headers.get("access-control-allow-origin"), null);
    await response.body?.cancel();
  }
  const head = await harness.request(authorizationQuery(clientId), { method: "HEAD" });
  assertEquals([head.status, await head.text()], [302, ""]);
});
