import { assertEquals } from "@std/assert";
import { hashToken } from "../../../shared/oauth/tokens.ts";
import { sharedDatabase } from "../../_support/database.ts";
import {
  connect,
  createHarness,
  createPerson,
  type Fields,
  outcomeOf,
  over,
  refreshFields,
  registerClient,
  START,
} from "./harness.ts";

const database = await sharedDatabase();
const person = await createPerson(database, "revoke@example.com", ["pro"]);

async function start(owner = person) {
  const harness = createHarness(over(database));
  const clientId = await registerClient(harness);
  const tokens = await connect(harness, { clientId, person: owner });
  harness.calls.length = 0;
  const revoke = async (fields: Fields) => {
    const response = await harness.post("revoke", { client_id: clientId, ...fields });
    const text = await response.text();
    return { status: response.status, error: text && JSON.parse(text).error };
  };
  const refreshes = async (refreshToken: string) =>
    (await harness.post("token", refreshFields(clientId, refreshToken))).status;
  const outcome = (accessToken: string) => outcomeOf(database, accessToken, START);
  return { harness, clientId, tokens, revoke, refreshes, outcome };
}

Deno.test("revoking an access token ends only that token, in one database call", async () => {
  const { harness, tokens, revoke, refreshes, outcome } = await start();
  assertEquals(await revoke({ token: tokens.access_token, token_type_hint: "refresh_token" }), {
    status: 200,
    error: "",
  });
  assertEquals(harness.calls, ["revoke_token"]);
  assertEquals(await outcome(tokens.access_token), "invalid_token");
  assertEquals(await refreshes(tokens.refresh_token), 200);
});

Deno.test("revoking a refresh token ends its grant", async () => {
  const { tokens, revoke, refreshes, outcome } = await start();
  assertEquals(await revoke({ token: tokens.refresh_token }), { status: 200, error: "" });
  assertEquals(await outcome(tokens.access_token), "invalid_token");
  assertEquals(await refreshes(tokens.refresh_token), 400);
  assertEquals(await revoke({ token: tokens.refresh_token }), { status: 200, error: "" });
});

Deno.test("unknown tokens and other clients' tokens get the same response, and nothing changes", async () => {
  const { harness, tokens, revoke, outcome } = await start();
  const other = await registerClient(harness);
  assertEquals(await revoke({ token: "anything" }), { status: 200, error: "" });
  for (const token of [tokens.access_token, tokens.refresh_token]) {
    assertEquals(await revoke({ token, client_id: other }), { status: 200, error: "" });
  }
  assertEquals(await outcome(tokens.access_token), "ok");
});

Deno.test("the revocation endpoint accepts only complete forms of known clients", async () => {
  const { harness, clientId, revoke } = await start();
  assertEquals(await revoke({}), { status: 400, error: "invalid_request" });
  assertEquals(await revoke({ token: "x", client_id: undefined }), { status: 400, error: "invalid_request" });
  assertEquals(await revoke({ token: "x", client_id: "client_gone" }), { status: 401, error: "invalid_client" });
  const json = await harness.request("/api/oauth/revoke", {
    method: "POST",
    body: JSON.stringify({ token: "x", client_id: clientId }),
    headers: { "content-type": "application/json" },
  });
  assertEquals([json.status, (await json.json()).error], [400, "invalid_request"]);
});

Deno.test("revoke_grant() disconnects an app only for its owner", async () => {
  const owner = await createPerson(database, "owner@example.com", ["pro"]);
  const stranger = await createPerson(database, "stranger@example.com", ["pro"]);
  const { tokens, outcome } = await start(owner);
  const list = () =>
    database.asService<{ grant_id: string }[]>("list_connected_apps", { user_id: owner.id, at: START });
  const [app] = await list();
  assertEquals(await outcome(tokens.access_token), "ok");
  const revoke = (userId: string) =>
    database.asService("revoke_grant", { user_id: userId, grant_id: app!.grant_id, at: START });
  assertEquals(await revoke(stranger.id), { outcome: "unknown_grant" });
  assertEquals(await revoke(owner.id), { outcome: "revoked" });
  assertEquals(await outcome(tokens.access_token), "invalid_token");
  assertEquals(await revoke(owner.id), { outcome: "unknown_grant" });
  assertEquals(await list(), []);
  const [event] = await database.query(
    "select event, actor_id, detail ->> 'reason' as reason from identity.audit_events order by id desc limit 1",
  );
  assertEquals(event, { event: "grant.revoked", actor_id: owner.id, reason: "revoked_by_user" });
});

Deno.test("list_connected_apps() reports the last use to within an hour and omits apps without access", async () => {
  const owner = await createPerson(database, "lister@example.com", ["team"]);
  const harness = createHarness(over(database));
  const clientId = await registerClient(harness, { client_name: "Notes" });
  const tokens = await connect(harness, { clientId, person: owner });
  const list = (at: Date) =>
    database.asService<Record<string, unknown>[]>("list_connected_apps", { user_id: owner.id, at });
  const [app] = await list(START);
  assertEquals({ ...app, grant_id: 0 }, {
    grant_id: 0,
    client_id: clientId,
    client_name: "Notes",
    redirect_uri: "http://localhost:54123/callback",
    organization_id: owner.organizations[0],
    organization_name: "team of lister@example.com",
    created_at: "2026-11-20T10:00:00+00:00",
    last_used_at: null,
    access: "write",
    role_writes: true,
    may_subscribe: true,
    subscriptions: [],
    last_change: null,
  });
  harness.later(3600);
  const use = async (token: string) =>
    await database.asService("record_use", { token_hash: hashToken(token), at: harness.clock.now });
  assertEquals(await use(tokens.refresh_token), { outcome: "recent" });
  assertEquals(await use(tokens.access_token), { outcome: "recorded" });
  assertEquals((await list(harness.clock.now))[0]!.last_used_at, "2026-11-20T11:00:00+00:00");
  harness.later(3599);
  assertEquals(await use(tokens.access_token), { outcome: "recent" });
  harness.later(1);
  assertEquals(await use(tokens.access_token), { outcome: "recorded" });
  harness.later(31 * 86_400);
  assertEquals(await list(harness.clock.now), []);
});
