/** Whatever is sent: an answer on purpose, nobody sent to an address that is not the client's, no secret in answer or log. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { openDatabase } from "../../_support/database.ts";
import {
  CALLBACK,
  CHALLENGE,
  connect,
  createHarness,
  createPerson,
  obtainCode,
  over,
  registerClient,
  VERIFIER,
} from "./harness.ts";

const database = await openDatabase();
Deno.test.afterAll(() => database.close());
const person = await createPerson(database, "any@example.com", ["team"]);
const harness = createHarness(over(database));
const clientId = await registerClient(harness);
const code = await obtainCode(harness, { clientId, person });
const tokens = await connect(harness, { clientId, person });

const text = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: "binary" }),
  fc.webUrl(),
  fc.constantFrom("", "\u0000", "\ud800"),
);
/** Mostly what is right, so that the deeper checks are reached, and now and then anything. */
const around = (...right: string[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...right) }, { weight: 1, arbitrary: text });
/** Most of the parameters once, and now and then one of them twice. */
const some = (parameters: Record<string, fc.Arbitrary<string>>) =>
  fc.record(parameters, { requiredKeys: ["client_id"] }).map((record) => Object.entries(record) as [string, string][])
    .chain((entries) =>
      fc.oneof({ weight: 9, arbitrary: fc.constant(entries) }, {
        weight: 1,
        arbitrary: fc.constantFrom(...entries).map((entry) => [...entries, entry]),
      })
    );

const AUTHORIZATION = {
  client_id: around(clientId, "client_gone"),
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
  code: around(code),
  code_verifier: around(VERIFIER),
  redirect_uri: around(CALLBACK),
  refresh_token: around(tokens.refresh_token, tokens.access_token),
  token: around(tokens.refresh_token),
  resource: around("https://expenses.example/api/mcp"),
  scope: text,
};

function assertDeliberate(response: Response, body: string) {
  assert(response.status < 500, `${response.status}: ${body}`);
  assert(!/postgres|plpgsql|at .*\.ts:/i.test(body), body);
}

Deno.test("authorize answers anything, and sends nobody to an address that is not the client's", async () => {
  await fc.assert(
    fc.asyncProperty(some(AUTHORIZATION), fc.boolean(), async (query, isSignedIn) => {
      const path = `/api/oauth/authorize?${new URLSearchParams(query)}`;
      const response = await harness.get(path, isSignedIn ? person : null);
      assertDeliberate(response, await response.text());
      const location = response.headers.get("location");
      if (location) assert(location.startsWith("/login?next=") || location.startsWith(`${CALLBACK}?`), location);
    }),
    { numRuns: 300 },
  );
});

Deno.test("token and revoke answer anything with success or a flat error", async () => {
  await fc.assert(
    fc.asyncProperty(some(TOKEN), fc.constantFrom("token", "revoke"), async (fields, endpoint) => {
      const body = new URLSearchParams(fields);
      const response = await harness.request(`/api/oauth/${endpoint}`, { method: "POST", body });
      const answer = await response.text();
      assertDeliberate(response, answer);
      if (response.status !== 200) assertEquals(Object.keys(JSON.parse(answer)), ["error", "error_description"]);
    }),
    { numRuns: 300 },
  );
});

Deno.test("register answers anything", async () => {
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
      if (response.status === 201) assert(!Object.values(JSON.parse(answer)).includes(null));
    }),
    { numRuns: 300 },
  );
});

Deno.test("nothing of that left a secret in the log", () => {
  const secrets = [code, tokens.access_token, tokens.refresh_token, VERIFIER];
  assertEquals(secrets.filter((secret) => harness.log.some((line) => line.includes(secret))), []);
});
