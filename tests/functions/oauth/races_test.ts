/** What only a real server can show, since PGlite has one session: requests that meet in the database. */
import { assertEquals } from "@std/assert";
import { openDatabase } from "../../_support/database.ts";
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
} from "./harness.ts";

if (Deno.env.get("TEST_DATABASE_URL")) {
  const database = await openDatabase();
  Deno.test.afterAll(() => database.close());
  const person = await createPerson(database, "races@example.com", ["pro"]);
  const harness = createHarness(over(database));
  const clientId = await registerClient(harness);

  const inParallel = <Result>(count: number, work: (index: number) => Promise<Result>) =>
    Promise.all(Array.from({ length: count }, (_, index) => work(index)));
  const post = async (fields: Record<string, string | undefined>) => {
    const response = await harness.post("token", fields);
    return { status: response.status, body: await response.json() };
  };

  Deno.test("twenty redemptions of one code give one success, and its grant is ended by the others", async () => {
    for (let round = 0; round < 10; round++) {
      const code = await obtainCode(harness, { clientId, person });
      const answers = await inParallel(20, () => post(exchangeFields(clientId, code)));
      const [success, ...more] = answers.filter(({ status }) => status === 200);
      assertEquals(more, []);
      assertEquals(
        new Set(answers.filter((answer) => answer !== success).map(({ body }) => body.error)),
        new Set(["invalid_grant"]),
      );
      assertEquals(await outcomeOf(database, success!.body.access_token, START), "invalid_token");
      const [row] = await database.query<{ grants: number }>(
        "select count(*)::int as grants from oauth.grants where revocation_reason = 'code_replayed'",
      );
      assertEquals(row!.grants, round + 1);
    }
  });

  Deno.test("two hundred refreshes with one token all succeed and have one successor", async () => {
    const tokens = await connect(harness, { clientId, person });
    const answers = await inParallel(200, () => post(refreshFields(clientId, tokens.refresh_token)));
    assertEquals(new Set(answers.map(({ status }) => status)), new Set([200]));
    assertEquals(new Set(answers.map(({ body }) => body.refresh_token)).size, 1);
    assertEquals(new Set(answers.map(({ body }) => body.access_token)).size, 1);
    const [row] = await database.query<{ tokens: number }>(
      `select count(*)::int as tokens from oauth.tokens
       where grant_id = (select grant_id from oauth.tokens where token_hash = sha256(convert_to($1, 'UTF8')))`,
      [tokens.refresh_token],
    );
    assertEquals(row!.tokens, 4);
  });

  Deno.test("wrong verifiers that meet are all counted, and the code is burnt for good", async () => {
    const code = await obtainCode(harness, { clientId, person });
    const wrong = exchangeFields(clientId, code, { code_verifier: "x".repeat(43) });
    assertEquals(new Set((await inParallel(20, () => post(wrong))).map(({ status }) => status)), new Set([400]));
    assertEquals((await post(exchangeFields(clientId, code))).status, 400);
  });

  Deno.test("Allow pressed many times at once gives one redirect", async () => {
    const page = await (await harness.get(authorizationQuery(clientId), person)).text();
    const fields = { action: "approve", organization_id: person.organizations[0] };
    const answers = await inParallel(20, () => harness.decide(page, fields, person));
    assertEquals(new Set(answers.map((answer) => answer.headers.get("location"))).size, 1);
    assertEquals(answers[0]!.status, 303);
  });

  Deno.test("a grant that is revoked while it is refreshed leaves no live token", async () => {
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
}
