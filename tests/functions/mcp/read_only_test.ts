/** A read-only app, over HTTP and a real database. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { TOOLS } from "../../../functions/mcp/tools/mod.ts";
import { addMember } from "../../_support/books.ts";
import { sharedDatabase } from "../../_support/database.ts";
import {
  connect,
  createPerson,
  exchangeFields,
  type Json,
  refreshFields,
  registerClient,
  SITE,
} from "../oauth/harness.ts";
import { createSite } from "../oauth/site.ts";
import { CALLBACK, CHALLENGE, VERIFIER } from "../oauth/harness.ts";

const database = await sharedDatabase();

const WRITES = TOOLS.filter(({ listed }) => !listed.annotations.readOnlyHint).map(({ listed }) => listed.name);
const READS = TOOLS.filter(({ listed }) => listed.annotations.readOnlyHint).map(({ listed }) => listed.name);
const LUNCH = { items: [{ name: "Lunch", amount: "14.50" }] };

/** A person with one app that has this `access`. */
async function start(access: "read" | "write") {
  const { harness, fetch } = createSite(database);
  const person = await createPerson(database, `${crypto.randomUUID()}@example.com`, ["team"]);
  const clientId = await registerClient(harness);
  const tokens = await connect(harness, { clientId, person, access });
  const [{ grant_id: grantId }] = await apps(person.id);
  const send = (method: string, params: unknown = {}, token = tokens.access_token) =>
    fetch(`${SITE}/api/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2025-11-25",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
  const call = async (name: string, args: unknown = {}, token?: string) => {
    const response = await send("tools/call", { name, arguments: args }, token);
    return { status: response.status, headers: response.headers, message: await response.json() as Json };
  };
  const listed = async (token?: string): Promise<string[]> =>
    (await (await send("tools/list", {}, token)).json()).result.tools.map(({ name }: Json) => name);
  const allow = async (access: string, userId = person.id) =>
    (await database.asService<Json>("change_grant_access", {
      user_id: userId,
      grant_id: grantId,
      access,
      at: harness.clock.now,
    })).outcome;
  return { harness, fetch, person, clientId, tokens, grantId, send, call, listed, allow };
}

const apps = (userId: string) =>
  database.asService<Json[]>("list_connected_apps", { user_id: userId, at: "2026-11-20T10:00:00Z" }) as Promise<
    [Json, ...Json[]]
  >;

/** Every row that a tool can write for an organization. */
async function books(organizationId: string): Promise<string> {
  const tables = [
    "app.accounts",
    "app.budgets",
    "app.categories",
    "app.change_sets",
    "app.expense_occurrences",
    "app.expenses",
    "app.idempotency_keys",
    "app.import_batches",
    "app.payee_rules",
    "app.payments",
    "app.proposals",
    "app.settlements",
  ];
  const rows = await database.query(
    tables.map((name) => `select to_jsonb(t)::text as row from ${name} as t where organization_id = $1`)
      .join(" union all ") + " order by 1",
    [organizationId],
  );
  return JSON.stringify(rows);
}

Deno.test("a read-only app sees only the reading tools, and every other call returns 403", async () => {
  const { person, grantId, call, listed } = await start("read");
  assertEquals((await listed()).toSorted(), READS.toSorted());
  const before = await books(person.organizations[0]!);
  for (const name of WRITES) {
    // With and without arguments that the contract accepts.
    for (const args of [{}, LUNCH, { no_such_field: 1 }]) {
      const { status, headers, message } = await call(name, args);
      assertEquals([name, status], [name, 403]);
      const challenge = headers.get("www-authenticate")!;
      assertMatch(
        challenge,
        /^Bearer [^\n]*scope="expenses:rw", error="insufficient_scope", error_description="[^"]+"$/,
      );
      assertMatch(challenge, /resource_metadata="https:\/\/expenses\.example\/api\/mcp\/\.well-known\//);
      const { code, allow_url } = message.error.data;
      assertEquals([code, allow_url], ["insufficient_scope", `${SITE}/account/access?grant=${grantId}`]);
      assert(message.error.message.includes(allow_url), message.error.message);
    }
  }
  assertEquals(await books(person.organizations[0]!), before);
  const { message } = await call("get_context");
  assertEquals(message.result.structuredContent.data.read_only, true);
});

Deno.test("an app that may write sees every tool", async () => {
  const { call, listed } = await start("write");
  assertEquals((await listed()).toSorted(), [...READS, ...WRITES].toSorted());
  assertEquals((await call("log_expenses", LUNCH)).message.result.structuredContent.ok, true);
});

Deno.test("a viewer's app sees only the reading tools too, and a write names the people to ask", async () => {
  const { person, call, listed } = await start("write");
  await database.query("update identity.memberships set role = 'viewer' where user_id = $1", [person.id]);
  assertEquals((await listed()).toSorted(), READS.toSorted());
  const { status, message } = await call("log_expenses", LUNCH);
  assertEquals([status, message.result.structuredContent.error.code], [200, "forbidden_role"]);
});

Deno.test("an app's access changes in both directions without connecting again", async () => {
  const { person, tokens, call, listed, allow } = await start("write");
  const context = await call("log_expenses", { ...LUNCH, idempotency_key: "lunch-of-today" });
  assertEquals(await allow("read"), "changed");
  assertEquals(await allow("read"), "changed", "twice is once");
  assertEquals((await listed()).includes("log_expenses"), false);
  const before = await books(person.organizations[0]!);
  const { change_id } = context.message.result.structuredContent;
  for (
    const [name, args] of [
      ["log_expenses", { ...LUNCH, idempotency_key: "lunch-of-today" }],
      ["log_expenses", { ...LUNCH, dry_run: true }],
      ["undo_change", { change_id }],
      ["undo_change", {}],
      ["update_settings", { timezone: "UTC" }],
      ["import_expenses", { csv: "Date,Name,Amount\n2026-11-10,Phone,15.00\n" }],
    ] as const
  ) {
    assertEquals([name, (await call(name, args)).status], [name, 403]);
  }
  assertEquals(await books(person.organizations[0]!), before);
  assertEquals(await allow("write"), "changed");
  assertEquals((await listed()).includes("log_expenses"), true);
  assertEquals((await call("log_expenses", LUNCH, tokens.access_token)).message.result.structuredContent.ok, true);
  const events = await database.query(
    "select event, actor_id, detail ->> 'access' as access from identity.audit_events where organization_id = $1 order by id",
    [person.organizations[0]],
  );
  assertEquals(events, [
    { event: "grant.created", actor_id: person.id, access: "write" },
    { event: "grant.access_changed", actor_id: person.id, access: "read" },
    { event: "grant.access_changed", actor_id: person.id, access: "write" },
  ]);
});

Deno.test("only its own person can change an app's access", async () => {
  const { grantId, person, call, allow } = await start("read");
  const other = await start("write");
  assertEquals(await allow("write", other.person.id), "unknown_grant");
  assertEquals((await call("log_expenses", LUNCH)).status, 403);
  await database.asService("revoke_grant", { user_id: person.id, grant_id: grantId, at: "2026-11-20T10:00:00Z" });
  assertEquals(await allow("write"), "unknown_grant", "one that has ended");
});

Deno.test("an app can't widen its access by a refresh, a scope, another registration or another request", async () => {
  const { harness, person, clientId, tokens, call } = await start("read");
  const refreshed = await harness.post(
    "token",
    refreshFields(clientId, tokens.refresh_token, { scope: "expenses:rw", access: "write" }),
  );
  const { access_token, scope } = await refreshed.json();
  assertEquals(scope, "expenses:rw");
  assertEquals((await call("log_expenses", LUNCH, access_token)).status, 403);

  // A code that is redeemed with an access level that the person did not choose.
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: CALLBACK,
    code_challenge: CHALLENGE,
    scope: "expenses:rw",
  });
  const page = await (await harness.get(`/api/oauth/authorize?${query}`, person)).text();
  const fields = { action: "approve", organization_id: person.organizations[0], access: "read" };
  const decided = await harness.decide(page, fields, person);
  const code = new URL(decided.headers.get("location")!).searchParams.get("code")!;
  // The first decision counts, even if the page is sent again.
  const again = await harness.decide(page, { ...fields, access: "write" }, person);
  assertEquals(again.headers.get("location"), decided.headers.get("location"));
  const exchanged = await harness.post(
    "token",
    exchangeFields(clientId, code, { access: "write", scope: "expenses:rw", code_verifier: VERIFIER }),
  );
  const { access_token: second } = await exchanged.json();
  assertEquals((await call("log_expenses", LUNCH, second)).status, 403);

  const other = await registerClient(harness, { scope: "expenses:rw" });
  const third = await connect(harness, { clientId: other, person, access: "read" });
  assertEquals((await call("log_expenses", LUNCH, third.access_token)).status, 403);
});

Deno.test("consent preselects the requested access, and keeps a person's read-only choice", async () => {
  const { harness, person, clientId, allow } = await start("write");
  const selected = async (scope?: string) => {
    const query = new URLSearchParams({ client_id: clientId, redirect_uri: CALLBACK, code_challenge: CHALLENGE });
    if (scope) query.set("scope", scope);
    const page = await (await harness.get(`/api/oauth/authorize?${query}`, person)).text();
    return { page, access: /name="access" value="(\w+)" required="" checked=""/.exec(page)?.[1] };
  };
  for (
    const [scope, expected] of [
      [undefined, "write"],
      ["expenses:rw", "write"],
      ["openid offline_access", "write"],
      ["expenses:read", "read"],
      ["read_only offline_access", "read"],
      ["mcp:read mcp:write", "write"],
    ] as const
  ) assertEquals([scope, (await selected(scope)).access], [scope, expected]);
  assert(!(await selected("expenses:read")).page.includes("could only read. It can write only"));
  await allow("read");
  const { page, access } = await selected("expenses:rw");
  assertEquals(access, "read");
  assert(page.includes("could only read. It can write only"));

  // A form without a choice selects neither access level.
  for (const access of ["", "admin"]) {
    const refused = await harness.decide(
      page,
      { action: "approve", organization_id: person.organizations[0], access },
      person,
    );
    assertEquals([refused.status, refused.headers.get("location")], [400, null]);
  }
});

Deno.test("narrowing an app withdraws its proposals, so that no later approval writes them", async () => {
  const { harness, person, call, allow } = await start("write");
  const [organizationId] = person.organizations;
  const other = await createPerson(database, `${crypto.randomUUID()}@example.com`, []);
  await addMember(database, organizationId!, other.id, "manager");
  await database.query(
    "insert into app.approval_rules (organization_id, tool, roles, approver) values ($1, 'delete_records', '{owner}', 'manager')",
    [organizationId],
  );
  const logged = await call("log_expenses", LUNCH);
  const [{ id }] = logged.message.result.structuredContent.data.results;
  const preview = await call("delete_records", { ids: [id], dry_run: true });
  const { confirm } = preview.message.result.structuredContent.data;
  const asked = await call("delete_records", { ids: [id], ...(confirm && { confirm }) });
  assertEquals(asked.message.result.structuredContent.error.code, "awaiting_approval");
  const [proposal] = await database.query<Json>(
    "select id, hash from app.proposals where organization_id = $1 and state = 'pending'",
    [organizationId],
  );
  await allow("read");
  const decide = () =>
    database.asService<Json>("decide_proposal", {
      user_id: other.id,
      proposal_id: proposal!.id,
      hash: proposal!.hash,
      decision: "approve",
      at: harness.clock.now,
    });
  assertEquals(await decide(), { outcome: "already", state: "withdrawn" });
  // If it were still pending, the write would run with the app's new rights.
  await database.query(
    "update app.proposals set state = 'pending', decided_at = null, decided_by = null where id = $1",
    [proposal!.id],
  );
  const stale = await decide();
  assertEquals([stale.outcome, stale.problem.code], ["stale", "insufficient_scope"]);
});

Deno.test("a read-only app can export: it gets the rows and the link", async () => {
  const { person: { organizations: [organizationId] }, call } = await start("read");
  // Too many for an answer, which then contains a link to the file.
  await database.query(
    `with expense as (
       insert into app.expenses (id, organization_id, kind, name)
       select app.new_id('exp'), $1, 'one_off', 'Lunch ' || n from generate_series(1, 550) as n
       returning id, organization_id
     )
     insert into app.payments (organization_id, expense_id, amount_minor, currency, paid_on)
     select organization_id, id, 100, 'EUR', '2026-11-01' from expense`,
    [organizationId],
  );
  const { status, message } = await call("list_expenses", { format: "csv", from: "2026-01-01", limit: 500 });
  assertEquals([status, message.result.structuredContent.ok], [200, true], JSON.stringify(message).slice(0, 500));
  assert(message.result.structuredContent.data.csv.includes("Lunch"));
  const { message: { result } } = await call("list_expenses", { format: "csv", from: "2026-01-01" });
  assertMatch(result.structuredContent.data.csv_url, /^https:/);
});
