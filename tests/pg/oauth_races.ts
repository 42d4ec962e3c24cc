/** Concurrent requests to the OAuth endpoints. */
import { assertEquals } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import {
  authorizationQuery,
  connect,
  createHarness,
  createPerson,
  exchangeFields,
  obtainCode,
  outcomeOf,
  over,
  refreshFields,
  registerClient,
  START,
} from "../functions/oauth/harness.ts";

const database = await sharedDatabase();
const person = await createPerson(database, "races@example.com", ["pro"]);
const harness = createHarness(over(database), { rateLimits: "off" });
const clientId = await registerClient(harness);

/**
 * The number of requests that an instance runs at once; it sheds waiting requests when they wait too long
 * (shared/http/admission.ts).
 */
const MANY = 24;
const inParallel = <Result>(count: number, work: (index: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));
const post = async (fields: Record<string, string | undefined>) => {
  const response = await harness.post("token", fields);
  return { status: response.status, body: await response.json() };
};

const tally = (answers: { status: number }[]) =>
  answers.reduce<Record<number, number>>(
    (counts, { status }) => ({ ...counts, [status]: (counts[status] ?? 0) + 1 }),
    {},
  );
const count = async (from: string, params: unknown[] = []) =>
  (await database.query<{ count: number }>(`select count(*)::int as count from ${from}`, params))[0]!.count;

Deno.test("one of many redemptions of a code succeeds, and the others end its grant", async () => {
  const code = await obtainCode(harness, { clientId, person });
  const grants = await count("oauth.grants");
  const answers = await inParallel(MANY, () => post(exchangeFields(clientId, code)));
  assertEquals(tally(answers), { 200: 1, 400: MANY - 1 });
  const success = answers.find(({ status }) => status === 200)!;
  assertEquals(new Set(answers.map(({ body }) => body.error)), new Set([undefined, "invalid_grant"]));
  assertEquals(await outcomeOf(database, success.body.access_token, START), "invalid_token");
  assertEquals((await post(refreshFields(clientId, success.body.refresh_token))).body.error, "invalid_grant");
  assertEquals(await count("oauth.grants") - grants, 1);
  assertEquals(
    await count("identity.audit_events where event = 'grant.revoked' and detail ->> 'reason' = 'code_replayed'"),
    1,
  );
});

Deno.test("concurrent redemptions of one code end the grant in every order", async () => {
  for (let round = 0; round < 10; round++) {
    const code = await obtainCode(harness, { clientId, person });
    const answers = await inParallel(20, () => post(exchangeFields(clientId, code)));
    assertEquals(tally(answers), { 200: 1, 400: 19 });
    const { body } = answers.find(({ status }) => status === 200)!;
    assertEquals(await outcomeOf(database, body.access_token, START), "invalid_token");
  }
});

Deno.test("many concurrent refreshes with one token all succeed, have one successor and log nobody out", async () => {
  const tokens = await connect(harness, { clientId, person });
  const answers = await inParallel(MANY, () => post(refreshFields(clientId, tokens.refresh_token)));
  assertEquals(tally(answers), { 200: MANY });
  assertEquals(new Set(answers.map(({ body }) => body.refresh_token)).size, 1);
  assertEquals(new Set(answers.map(({ body }) => body.access_token)).size, 1);
  assertEquals(
    await count(
      "oauth.tokens where grant_id = (select grant_id from oauth.tokens where token_hash = sha256(convert_to($1, 'UTF8')))",
      [tokens.refresh_token],
    ),
    4,
  );
  assertEquals(await outcomeOf(database, answers[0]!.body.access_token, START), "ok");
  assertEquals((await post(refreshFields(clientId, answers.at(-1)!.body.refresh_token))).status, 200);
});

Deno.test("a grant's limit counts rotations, not the retries waiting for one", async () => {
  const limited = createHarness(over(database), { rateLimits: { token: 2 } });
  const tokens = await connect(limited, { clientId, person });
  const answers = await inParallel(MANY, () => limited.post("token", refreshFields(clientId, tokens.refresh_token)));
  assertEquals(tally(answers), { 200: MANY });
  await Promise.all(answers.map((answer) => answer.body?.cancel()));
});

Deno.test("concurrent connections leave twenty", async () => {
  const many = await createPerson(database, "many@example.com", ["team"]);
  const codes = await inParallel(30, () => obtainCode(harness, { clientId, person: many }));
  assertEquals(tally(await Promise.all(codes.map((code) => post(exchangeFields(clientId, code))))), { 200: 30 });
  assertEquals(await count("oauth.grants where user_id = $1 and revoked_at is null", [many.id]), 20);
  assertEquals(await count("oauth.grants where user_id = $1 and revocation_reason = 'too_many'", [many.id]), 10);
});

Deno.test("a bucket never yields more than it contains, under any concurrency", async () => {
  const limited = createHarness(over(database), { rateLimits: { register: 10 } });
  const register = () =>
    limited.request("/api/oauth/register", {
      method: "POST",
      body: JSON.stringify({ redirect_uris: ["https://app.example/cb"] }),
      headers: { "content-type": "application/json", "x-forwarded-for": "198.51.100.7" },
    });
  const answers = await inParallel(MANY, register);
  assertEquals(tally(answers), { 201: 10, 429: MANY - 10 });
  await Promise.all(answers.map((answer) => answer.body?.cancel()));
});

Deno.test("concurrent wrong verifiers all count, and the code stays invalid", async () => {
  const code = await obtainCode(harness, { clientId, person });
  const wrong = exchangeFields(clientId, code, { code_verifier: "x".repeat(43) });
  assertEquals(new Set((await inParallel(20, () => post(wrong))).map(({ status }) => status)), new Set([400]));
  assertEquals((await post(exchangeFields(clientId, code))).status, 400);
});

Deno.test("concurrent clicks on Allow return one redirect", async () => {
  const page = await (await harness.get(authorizationQuery(clientId), person)).text();
  const fields = { action: "approve", organization_id: person.organizations[0] };
  const answers = await inParallel(20, () => harness.decide(page, fields, person));
  assertEquals(new Set(answers.map((answer) => answer.headers.get("location"))).size, 1);
  assertEquals(answers[0]!.status, 303);
});

Deno.test("a grant revoked during a refresh leaves no live token", async () => {
  for (let round = 0; round < 10; round++) {
    const tokens = await connect(harness, { clientId, person });
    const answers = await inParallel(
      20,
      (index) =>
        index === 10
          ? harness.post("revoke", { client_id: clientId, token: tokens.refresh_token }).then(() => undefined)
          : post(refreshFields(clientId, tokens.refresh_token)),
    );
    for (const answer of answers) {
      if (answer?.status === 200) {
        assertEquals(await outcomeOf(database, answer.body.access_token, START), "invalid_token");
      }
    }
  }
});
