/**
 * Any input gets a deliberate response, without a redirect except to the client, and without a secret in response or
 * log.
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { judgeRedirectUri } from "../../../shared/oauth/redirect_uri.ts";
import { sharedDatabase } from "../../_support/database.ts";
import {
  CALLBACK,
  CHALLENGE,
  connect,
  createHarness,
  createPerson,
  obtainCode,
  over,
  registerClient,
  type Tokens,
  VERIFIER,
} from "./harness.ts";

/** Number of requests: 300 on every change, 5,000 when the whole suite runs against a server (`deno task test:pg`). */
const RUNS = Deno.env.get("TEST_DATABASE_URL") ? 5_000 : 300;
const CODE_SECRET = "a-secret-of-more-than-thirty-two-bytes";

const database = await sharedDatabase();
const harness = createHarness(over(database), { rateLimits: "off" });
const clientId = await registerClient(harness);
/** A second client with published metadata; no other URL has a document. */
const DOCUMENT = { client_id: "https://client.example/client.json", client_name: "Example", redirect_uris: [CALLBACK] };
harness.publish.answer = (url) =>
  Promise.resolve(
    url === DOCUMENT.client_id
      ? {
        ok: true,
        status: 200,
        headers: new Headers({ "content-type": "application/json" }),
        body: new TextEncoder().encode(JSON.stringify(DOCUMENT)),
      }
      : { ok: false, reason: "unresolvable" },
  );
const person = await createPerson(database, "any@example.com", ["team"]);
const codes: string[] = [];
const issued: Tokens[] = [];
// Several, since valid requests use them up.
for (let n = 0; n < 3; n++) {
  const other = await createPerson(database, `any-${n}@example.com`, ["team"]);
  for (let m = 0; m < 6; m++) {
    codes.push(await obtainCode(harness, { clientId, person: other }));
    issued.push(await connect(harness, { clientId, person: other }));
  }
}
const refreshTokens = issued.map(({ refresh_token }) => refresh_token);
const accessTokens = issued.map(({ access_token }) => access_token);
/** Secrets that no response may echo; issued tokens are added for the log check. */
const secrets = [CODE_SECRET, VERIFIER, ...codes, ...refreshTokens, ...accessTokens];
const given: string[] = [];

const text = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: "binary" }),
  fc.webUrl(),
  fc.constantFrom("", "\u0000", "\ud800"),
);
/** Mostly valid, to reach the deeper checks, and sometimes arbitrary. */
const around = (...right: string[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...right) }, { weight: 1, arbitrary: text });
/** Contains most parameters once, and sometimes one of them twice. */
const some = (parameters: Record<string, fc.Arbitrary<string>>) =>
  fc.record(parameters, { requiredKeys: ["client_id"] }).map((record) => Object.entries(record) as [string, string][])
    .chain((entries) =>
      fc.oneof({ weight: 9, arbitrary: fc.constant(entries) }, {
        weight: 1,
        arbitrary: fc.constantFrom(...entries).map((entry) => [...entries, entry]),
      })
    );

const AUTHORIZATION = {
  client_id: around(clientId, DOCUMENT.client_id, "client_gone", "https://client.example/gone.json"),
  redirect_uri: around(CALLBACK, "https://evil.example/", "http://localhost@evil.example/callback"),
  code_challenge: around(CHALLENGE),
  code_challenge_method: around("S256", "plain"),
  response_type: around("code"),
  response_mode: around("query"),
  state: text,
  scope: text,
  resource: around("https://expenses.example/api/mcp"),
  prompt: around("none", "consent"),
};
const TOKEN = {
  grant_type: around("authorization_code", "refresh_token"),
  client_id: around(clientId),
  code: around(...codes),
  code_verifier: around(VERIFIER),
  redirect_uri: around(CALLBACK),
  refresh_token: around(...refreshTokens, accessTokens[0]!),
  token: around(accessTokens[1]!, refreshTokens[2]!, `exp_rt_${"x".repeat(43)}`),
  resource: around("https://expenses.example/api/mcp"),
  scope: text,
};

/** A deliberate response that reveals nothing. */
function assertDeliberate(response: Response, body: string) {
  assert(response.status < 500, `${response.status}: ${body}`);
  assert(!/postgres|plpgsql|at .*\.ts:/i.test(body), body);
  const all = body + JSON.stringify([...response.headers]);
  assertEquals(secrets.filter((secret) => all.includes(secret)), []);
}

Deno.test("authorize handles any input, and redirects only to the client's addresses", async () => {
  await fc.assert(
    fc.asyncProperty(some(AUTHORIZATION), fc.boolean(), async (query, isSignedIn) => {
      const path = `/api/oauth/authorize?${new URLSearchParams(query)}`;
      const response = await harness.get(path, isSignedIn ? person : null);
      assertDeliberate(response, await response.text());
      const location = response.headers.get("location");
      if (location) assert(location.startsWith("/login?next=") || location.startsWith(`${CALLBACK}?`), location);
    }),
    { numRuns: RUNS },
  );
});

for (const endpoint of ["token", "revoke"] as const) {
  Deno.test(`${endpoint} responds to any input with success or a flat error`, async () => {
    const statuses = new Set<number>();
    await fc.assert(
      fc.asyncProperty(some(TOKEN), async (fields) => {
        const body = new URLSearchParams(fields);
        const response = await harness.request(`/api/oauth/${endpoint}`, { method: "POST", body });
        const answer = await response.text();
        statuses.add(response.status);
        assertDeliberate(response, answer);
        assertEquals(response.headers.get("location"), null);
        if (response.status !== 200) assertEquals(Object.keys(JSON.parse(answer)), ["error", "error_description"]);
        else if (answer) given.push(JSON.parse(answer).access_token, JSON.parse(answer).refresh_token);
      }),
      { numRuns: RUNS },
    );
    // The generator also reaches the code behind the checks.
    assertEquals([200, 400, 401].filter((status) => !statuses.has(status)), []);
  });
}

Deno.test("register handles any input, and registers only allowed redirect URIs", async () => {
  const uri = fc.oneof(fc.constant(CALLBACK), fc.webUrl(), text);
  const metadata = fc.oneof(
    fc.json(),
    text,
    fc.record({ redirect_uris: fc.array(uri, { maxLength: 12 }), client_name: text }, { requiredKeys: [] })
      .map((metadata) => JSON.stringify(metadata)),
  );
  await fc.assert(
    fc.asyncProperty(metadata, async (body) => {
      const response = await harness.request("/api/oauth/register", { method: "POST", body });
      const answer = await response.text();
      assertDeliberate(response, answer);
      if (response.status !== 201) return;
      const registered = JSON.parse(answer);
      assert(!Object.values(registered).includes(null));
      for (const uri of registered.redirect_uris) assert(judgeRedirectUri(uri).ok, uri);
    }),
    { numRuns: RUNS },
  );
});

Deno.test("the log contains no secret", () => {
  const all = [...secrets, ...given];
  const log = harness.log.join("\n");
  assertEquals(all.filter((secret) => log.includes(secret)), []);
});
