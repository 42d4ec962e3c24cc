/** Every invalid token gets the same refusal, over a real database. */
import { assertEquals } from "@std/assert";
import { sharedDatabase } from "../../_support/database.ts";
import { connect, createPerson, refreshFields, registerClient, SITE } from "../oauth/harness.ts";
import { createSite } from "../oauth/site.ts";

const database = await sharedDatabase();
const person = await createPerson(database, "tokens@example.com", ["team"]);

Deno.test("unknown, expired, revoked, foreign and wrong tokens are indistinguishable", async () => {
  const { harness, fetch } = createSite(database);
  const clientId = await registerClient(harness);
  const ask = async (token: string) => {
    const response = await fetch(`${SITE}/api/mcp`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });
    const headers = Object.fromEntries(response.headers);
    delete headers["x-request-id"];
    return { status: response.status, headers, body: await response.text() };
  };
  const expired = await connect(harness, { clientId, person });
  harness.later(3600);
  const revoked = await connect(harness, { clientId, person });
  await harness.post("revoke", { client_id: clientId, token: revoked.access_token });
  const ended = await connect(harness, { clientId, person });
  await harness.post("revoke", { client_id: clientId, token: ended.refresh_token });
  const foreign = await connect(harness, { clientId, person });
  await database.query(
    "update oauth.grants set resource = 'https://other.example/mcp' where id = (select grant_id from oauth.tokens where token_hash = sha256(convert_to($1, 'UTF8')))",
    [foreign.access_token],
  );
  const good = await connect(harness, { clientId, person });
  assertEquals((await ask(good.access_token)).status, 200);

  const unknown = await ask(`exp_at_${"x".repeat(43)}`);
  assertEquals(unknown.status, 401);
  const asAccess = good.refresh_token.replace("exp_rt_", "exp_at_");
  const tokens = [expired, revoked, ended, foreign].map(({ access_token }) => access_token);
  for (const token of [...tokens, asAccess, good.refresh_token]) assertEquals(await ask(token), unknown);
  const asRefresh = good.access_token.replace("exp_at_", "exp_rt_");
  const refused = await harness.post("token", refreshFields(clientId, asRefresh));
  assertEquals((await refused.json()).error, "invalid_grant");
});
