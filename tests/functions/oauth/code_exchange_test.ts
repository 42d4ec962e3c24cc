import { assertEquals, assertMatch } from "@std/assert";
import { sharedDatabase } from "../../_support/database.ts";
import {
  connect,
  createHarness,
  createPerson,
  exchangeFields,
  type Fields,
  type Harness,
  obtainCode,
  outcomeOf,
  over,
  registerClient,
  RESOURCE,
  START,
  VERIFIER,
} from "./harness.ts";

const database = await sharedDatabase();
const person = await createPerson(database, "code@example.com", ["pro"]);

const wrong = { code_verifier: "x".repeat(43) };

async function start() {
  const harness = createHarness(over(database));
  const clientId = await registerClient(harness);
  const code = await obtainCode(harness, { clientId, person });
  harness.calls.length = 0;
  return {
    harness,
    clientId,
    code,
    exchange: (more: Fields = {}) => exchange(harness, exchangeFields(clientId, code, more)),
  };
}

async function exchange(harness: Harness, fields: Fields) {
  const response = await harness.post("token", fields);
  const body = await response.json();
  return { status: response.status, body, headers: response.headers };
}

Deno.test("a code is exchanged for tokens by one database call", async () => {
  const { harness, exchange } = await start();
  const { status, body, headers } = await exchange({ resource: RESOURCE });
  assertEquals(status, 200);
  assertMatch(body.access_token, /^exp_at_[\w-]{43}$/);
  assertMatch(body.refresh_token, /^exp_rt_[\w-]{43}$/);
  assertEquals({ ...body, access_token: 0, refresh_token: 0 }, {
    access_token: 0,
    token_type: "Bearer",
    expires_in: 3600,
    refresh_token: 0,
    scope: "expenses:rw",
  });
  assertEquals(headers.get("cache-control"), "no-store");
  assertEquals(headers.get("access-control-allow-origin"), "*");
  assertEquals(harness.calls, ["redeem_authorization_code"]);
  assertEquals(await outcomeOf(database, body.access_token, harness.clock.now), "ok");
  assertEquals(await outcomeOf(database, body.refresh_token, harness.clock.now), "invalid_token");
  const elsewhere = "https://other.example/mcp";
  assertEquals(await outcomeOf(database, body.access_token, harness.clock.now, elsewhere), "invalid_token");
});

Deno.test("replaying a code with its proof ends its grant", async () => {
  const { harness, clientId, exchange } = await start();
  const other = await connect(harness, { clientId, person });
  const { body: tokens } = await exchange();
  const replay = await exchange();
  assertEquals([replay.status, replay.body.error], [400, "invalid_grant"]);
  assertEquals(await outcomeOf(database, tokens.access_token, START), "invalid_token");
  const refresh = { grant_type: "refresh_token", client_id: clientId, refresh_token: tokens.refresh_token };
  assertEquals((await harness.post("token", refresh)).status, 400);
  assertEquals(await outcomeOf(database, other.access_token, START), "ok");
});

Deno.test("replaying a code without its proof ends nothing", async () => {
  const { exchange } = await start();
  const { body: tokens } = await exchange();
  const replay = await exchange(wrong);
  assertEquals([replay.status, replay.body.error], [400, "invalid_grant"]);
  assertEquals(await outcomeOf(database, tokens.access_token, START), "ok");
});

Deno.test("four wrong verifiers leave the code usable, and the fifth invalidates it", async () => {
  for (const { failures, status } of [{ failures: 4, status: 200 }, { failures: 5, status: 400 }]) {
    const { harness, exchange } = await start();
    for (let attempt = 0; attempt < failures; attempt++) {
      assertEquals((await exchange(wrong)).body.error, "invalid_grant");
    }
    assertEquals(harness.calls, Array(failures).fill("count_wrong_verifier"));
    assertEquals((await exchange()).status, status);
  }
});

Deno.test("a code is invalid for another client, redirect URI or resource, and an attempt does not use it up", async () => {
  const { harness, exchange } = await start();
  const other = await registerClient(harness);
  const refused: [Fields, string][] = [
    [{ client_id: other }, "invalid_grant"],
    [{ redirect_uri: "http://localhost:54124/callback" }, "invalid_grant"],
    [{ resource: "https://other.example/mcp" }, "invalid_target"],
    [{ code: "x.y" }, "invalid_grant"],
  ];
  for (const [fields, error] of refused) {
    harness.calls.length = 0;
    const { status, body } = await exchange(fields);
    assertEquals([status, body.error, harness.calls], [400, error, ["find_client"]]);
  }
  assertEquals((await exchange()).status, 200);
});

Deno.test("a code is valid for ten minutes from the approval", async () => {
  const { harness, exchange } = await start();
  harness.later(601);
  assertEquals((await exchange()).body.error, "invalid_grant");
  const late = await start();
  late.harness.later(599);
  assertEquals((await late.exchange()).status, 200);
});

Deno.test("an unknown client or one with a secret gets invalid_client before other errors", async () => {
  const { harness, exchange } = await start();
  for (const fields of [{}, wrong, { code: "x.y" }, { redirect_uri: "http://localhost/x" }]) {
    const { status, body } = await exchange({ client_id: "client_gone", ...fields });
    assertEquals([status, body.error], [401, "invalid_client"]);
  }
  assertEquals((await exchange({ client_id: "\u0000" })).body.error, "invalid_client");
  const basic = await harness.request("/api/oauth/token", {
    method: "POST",
    body: new URLSearchParams({ grant_type: "authorization_code", code: "x" }),
    headers: { authorization: `Basic ${btoa("client:secret")}` },
  });
  assertEquals([basic.status, basic.headers.get("www-authenticate")], [401, 'Basic realm="oauth"']);
});

Deno.test("a membership that ended between consent and exchange invalidates the code", async () => {
  const guest = await createPerson(database, "guest@example.com", ["pro"]);
  const harness = createHarness(over(database));
  const clientId = await registerClient(harness);
  const code = await obtainCode(harness, { clientId, person: guest });
  await database.query("delete from identity.memberships where user_id = $1", [guest.id]);
  const { status, body } = await exchange(harness, exchangeFields(clientId, code));
  assertEquals([status, body.error], [400, "invalid_grant"]);
});

Deno.test("the token endpoint accepts only complete forms", async () => {
  const { harness, clientId, code, exchange } = await start();
  const refused: [Fields, string][] = [
    [{ grant_type: undefined }, "invalid_request"],
    [{ grant_type: "client_credentials", client_id: "client_gone" }, "unsupported_grant_type"],
    [{ client_id: undefined }, "invalid_request"],
    [{ code: undefined }, "invalid_request"],
    [{ code_verifier: "" }, "invalid_request"],
    [{ redirect_uri: undefined }, "invalid_request"],
  ];
  for (const [fields, error] of refused) {
    const { status, body } = await exchange(fields);
    assertEquals([status, body.error], [400, error]);
    assertEquals(typeof body.error_description, "string");
  }
  const send = (body: string, type: string) =>
    harness.request("/api/oauth/token", { method: "POST", body, headers: { "content-type": type } });
  const FORM = "application/x-www-form-urlencoded";
  const good = new URLSearchParams(exchangeFields(clientId, code) as Record<string, string>).toString();
  const json = await send(JSON.stringify(exchangeFields(clientId, code)), "application/json");
  assertEquals([json.status, (await json.json()).error], [400, "invalid_request"]);
  for (const twice of ["code", "client_id", "resource", "grant_type"]) {
    const response = await send(`${good}&${twice}=${twice === "resource" ? "a&resource=b" : "x"}`, FORM);
    assertEquals([response.status, (await response.json()).error], [400, "invalid_request"]);
  }
  const large = await send(`${good}&padding=${"x".repeat(16 * 1024)}`, FORM);
  assertEquals([large.status, (await large.json()).error], [413, "invalid_request"]);
  assertEquals((await harness.request("/api/oauth/token")).status, 405);
  assertEquals((await send(`${good}&unknown=1&unknown=2&scope=`, `${FORM};charset=UTF-8`)).status, 200);
});

Deno.test("a code signed with a previous key is still valid", async () => {
  const first = "a-secret-of-more-than-thirty-two-bytes";
  const next = "the-next-secret-of-thirty-two-bytes-or-so";
  const { clientId, code } = await start();
  const rotated = createHarness(over(database), { codeSecrets: [next, first] });
  assertEquals((await exchange(rotated, exchangeFields(clientId, code, { code_verifier: VERIFIER }))).status, 200);
  const { clientId: other, code: late } = await start();
  const removed = createHarness(over(database), { codeSecrets: [next] });
  assertEquals((await exchange(removed, exchangeFields(other, late))).body.error, "invalid_grant");
});
