/**
 * No redirect happens without a person's request: to a stranger's website, with prompt=none, or through an open
 * redirector.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  answerOf,
  authorizationQuery,
  createPerson,
  exchangeFields,
  type Fields,
  type Person,
  registerClient,
  SITE,
} from "./harness.ts";
import { ask, database, harness, person } from "./authorizing.ts";

/** Connects the client with one redirect URI, as the signed-in person. */
async function connectAt(id: string, redirect_uri: string, who: Person & { organizations: string[] } = person) {
  const page = await (await harness.get(authorizationQuery(id, { redirect_uri }), who)).text();
  const decided = await harness.decide(page, { action: "approve", organization_id: who.organizations.at(-1) }, who);
  const { code } = answerOf(decided);
  assertEquals((await harness.post("token", exchangeFields(id, code!, { redirect_uri }))).status, 200);
}

/** Errors detected before the person consents. */
const EARLY_ERRORS: [Fields, string][] = [
  [{ code_challenge: undefined }, "invalid_request"],
  [{ response_type: "token" }, "unsupported_response_type"],
  [{ prompt: "none" }, "consent_required"],
  [{ prompt: "none", code_challenge: undefined }, "invalid_request"],
];

Deno.test("errors for unknown websites are shown on a page that names the target, without a redirect", async () => {
  const redirect_uri = "https://evil.example/cb";
  const id = await registerClient(harness, { redirect_uris: [redirect_uri, "https://evil.example/other"] });
  // Another person's approval, such as the maker's, does not count.
  await connectAt(id, redirect_uri, await createPerson(database, "evil@example.com", ["team"]));
  for (const visitor of [null, person]) {
    for (const [request, error] of EARLY_ERRORS) {
      const { status, location, text } = await ask({ client_id: id, redirect_uri, ...request }, visitor);
      assertEquals([status, location], [400, null]);
      assertStringIncludes(text, "An app from evil.example sent you here");
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
    // Approval covers the redirect URI, not the client with any URI.
    assertEquals((await ask({ client_id: id, redirect_uri: "https://evil.example/other", ...request })).status, 400);
  }
  await database.query(
    "update oauth.grants set revoked_at = $2, revocation_reason = 'revoked_by_user' where client_id = $1",
    [id, "2026-11-20T10:00:00Z"],
  );
  assertEquals((await ask({ client_id: id, redirect_uri, prompt: "none" })).status, 400);
});

Deno.test("prompt=none redirects to no unapproved callback, known maker or app on the device", async () => {
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

Deno.test("open redirectors of known makers are refused, and VS Code's never forwards without consent", async () => {
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
    // A client that registered the URI before it was known is refused too.
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
