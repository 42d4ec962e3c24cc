/** The activity page over a real database: every change, who sees it, and Undo under the tool's rules. */
import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import type { Json } from "../../_support/books.ts";
import type { TestDatabase } from "../../_support/database.ts";
import { accountTest, joined, newPerson, onboarded, type Person } from "./account_harness.ts";
import { NOW, type Pages } from "./harness.ts";

async function house(pages: Pages, database: TestDatabase) {
  const anna = await onboarded(pages, database, "anna@example.com", { organization_name: "Garden Street" });
  const { organizationId } = anna;
  const join = (email: string, role: string) => joined(pages, database, { email, organizationId, role });
  /** Calls a tool as a person's app. */
  const call = (who: Person, tool: string, args: Json, client_name = "Claude"): Promise<Json> =>
    database.asRole(
      "authenticated",
      { sub: who.id, organization_id: organizationId, client_name },
      async (session) => {
        const [row] = await session.query<Json>("select app.run_tool($1, $2::text::jsonb, $3) as result", [
          tool,
          JSON.stringify(args),
          pages.clock.now.toISOString(),
        ]);
        assertEquals(row.result.ok, true, JSON.stringify(row.result));
        return row.result;
      },
    );
  const lunch = (who: Person, name = "Lunch") =>
    call(who, "log_expenses", { items: [{ name, amount: "14.50", date: "2026-11-19" }] });
  return {
    organizationId,
    anna,
    join,
    call,
    lunch,
    path: `/account/activity?organization=${organizationId}`,
    changeAt: (id: string) => `/account/activity?organization=${organizationId}&change=${id}`,
  };
}

const open = async ({ browser }: Person, path: string) => await (await browser.get(path)).text();
const names = async (database: TestDatabase) =>
  (await database.query<{ name: string }>("select name from app.expenses where deleted_at is null order by name")).map((
    { name },
  ) => name);

accountTest("a change is listed with its person, its app and its effects", async (pages, database) => {
  const { anna, lunch, call, path, changeAt } = await house(pages, database);
  const { data, change_id } = await lunch(anna);
  await call(anna, "update_expenses", { ids: [data.results[0].id], set: { amount: "20" } }, "Cursor");
  const page = await open(anna, path);
  for (const said of ["Logged Lunch, €14.50", "anna@example.com", "Claude", "Cursor", "Changed Lunch: amount"]) {
    assertStringIncludes(page, said);
  }
  assertStringIncludes(page.replaceAll(/<[^>]+>/g, ""), "€14.50");
  const one = await open(anna, changeAt(change_id));
  assertStringIncludes(one, "Logged Lunch");
  assertFalse(one.includes("Cursor"));
});

accountTest("a right-to-left name leaves the words around it in order", async (pages, database) => {
  const { anna, lunch, path } = await house(pages, database);
  await lunch(anna, "קפה");
  await database.query("update app.change_sets set facts = replace(facts::text, 'קפה', 'x\u202ey\u2069')::jsonb");
  assertStringIncludes(await open(anna, path), "Logged \u2068xy\u2069, €14.50");
  for (const name of ["שוק", "𞤢𞤣𞤤"]) {
    await lunch(anna, name);
    assertStringIncludes(await open(anna, path), `Logged \u2068${name}\u2069, €14.50`);
  }
});

accountTest("Undo reverts a change once, and can be undone", async (pages, database) => {
  const { anna, lunch, changeAt } = await house(pages, database);
  const { change_id } = await lunch(anna);
  const page = await open(anna, changeAt(change_id));
  const first = await anna.browser.submit(page, 'name="change"', {});
  assertEquals(first.status, 303, await first.text());
  const undo = first.headers.get("location")!;
  assertEquals(await names(database), []);
  // The same form again, as after a double click or the back button.
  assertEquals((await anna.browser.submit(page, 'name="change"', {})).headers.get("location"), undo);
  assertEquals(await names(database), []);
  const undone = await open(anna, undo);
  assertStringIncludes(undone, "Done. See the changes below.");
  const again = await anna.browser.submit(undone, 'name="change"', {});
  assertEquals(again.status, 303);
  assertEquals(await names(database), ["Lunch"]);
  // An outdated page can't undo a change that was undone and redone in the meantime.
  const old = await anna.browser.submit(page, 'name="change"', { key: crypto.randomUUID() });
  assertEquals([old.status, await names(database)], [303, []]);
});

accountTest("Undo names the obstacle and changes nothing", async (pages, database) => {
  const { anna, lunch, call, changeAt } = await house(pages, database);
  const { data, change_id } = await lunch(anna);
  await call(anna, "update_expenses", { ids: [data.results[0].id], set: { amount: "20" } });
  const refused = await anna.browser.submit(await open(anna, changeAt(change_id)), 'name="change"', {});
  assertEquals(refused.status, 409);
  const text = await refused.text();
  assertStringIncludes(text, "Something in it was changed later");
  assertStringIncludes(text, "<bdi>Lunch</bdi>");
  assertEquals(await names(database), ["Lunch"]);
});

accountTest("a viewer sees changes but can't undo them; a stranger sees nothing", async (pages, database) => {
  const { anna, lunch, join, path, changeAt, organizationId } = await house(pages, database);
  const { change_id } = await lunch(anna);
  const viewer = await join("vera@example.com", "viewer");
  const page = await open(viewer, path);
  assertStringIncludes(page, "Logged Lunch");
  assertFalse(page.includes('name="change"'));
  // The viewer submits the owner's form again.
  const form = await open(anna, changeAt(change_id));
  const token = /name="form_token" value="([^"]+)"/.exec(await open(viewer, "/account"))![1]!;
  const forged = await viewer.browser.submit(form, 'name="change"', { form_token: token });
  assertEquals(forged.status, 409);
  assertStringIncludes(await forged.text(), "Your role doesn’t allow this");
  assertEquals(await names(database), ["Lunch"]);

  const stranger = await newPerson(pages, database, "stranger@example.com");
  const hello = await (await stranger.browser.get("/onboarding")).text();
  await stranger.browser.submit(hello, 'name="country"', { country: "DE" });
  for (const where of [path, changeAt(change_id), "/account/activity?organization=org_x", `${path}&before=1`]) {
    const response = await stranger.browser.get(where);
    assertEquals(response.status, 404);
    assertFalse((await response.text()).includes("Garden Street"));
  }
  const own = await open(stranger, "/account");
  const forgedToo = await stranger.browser.submit(form, 'name="change"', {
    form_token: /name="form_token" value="([^"]+)"/.exec(own)![1]!,
    organization: organizationId,
  });
  assertEquals([forgedToo.status, await names(database)], [404, ["Lunch"]]);
});

accountTest("a member's list omits hidden records", async (pages, database) => {
  const { anna, lunch, call, join, path } = await house(pages, database);
  await call(anna, "update_settings", { category: { action: "create", name: "Payroll" } });
  await call(anna, "update_settings", { category: { action: "make_private", name: "Payroll" } });
  await call(anna, "log_expenses", {
    items: [{ name: "Salaries", amount: "9000", date: "2026-11-19", category: "Payroll" }],
  });
  await lunch(anna);
  const member = await join("ben@example.com", "member");
  const page = await open(member, path);
  assertStringIncludes(page, "Logged Lunch");
  assertFalse(/Salaries|Payroll|9,?000/.test(page));
  assertStringIncludes(await open(anna, path), "Salaries");
});

accountTest(
  "the list is filtered by person, kind, period and name, and continues on the next page",
  async (pages, database) => {
    const { anna, lunch, join, path } = await house(pages, database);
    const ben = await join("ben@example.com", "member");
    for (let n = 0; n < 23; n++) await lunch(anna, `Item ${n}.`);
    await lunch(ben, "Mine");
    const first = await open(anna, path);
    assertEquals([first.includes("Mine"), first.includes("Item 22."), first.includes("Item 3.")], [true, true, false]);
    const older = /href="(\/account\/activity\?[^"]*before=\d+[^"]*)"/.exec(first)![1]!.replaceAll("&amp;", "&");
    const second = await open(anna, older);
    assertEquals([second.includes("Item 3."), second.includes("Item 0."), second.includes("Item 22.")], [
      true,
      true,
      false,
    ]);
    const listed = async (query: string) =>
      [...(await open(anna, `${path}&${query}`)).matchAll(/Logged ([^<,]+)/g)].map(([, name]) => name);
    assertEquals(await listed(`by=${ben.id}`), ["Mine"]);
    assertEquals(await listed("q=item+7."), ["Item 7."]);
    assertEquals(await listed("tool=undo_change"), []);
    assertEquals(await listed("to=2026-11-19"), []);
    assertEquals((await listed("from=2026-11-20&app=Claude")).length, 20);
    assertEquals((await listed("q=%00")).length, 20);
    // Invalid parameters are ignored.
    assertEquals((await listed("by=nobody&from=2026-02-31&before=x")).length, 20);
  },
);

accountTest(
  "reads by apps are counted by day, and personal events are visible only to their person",
  async (pages, database) => {
    const { anna, join, path, organizationId } = await house(pages, database);
    const ben = await join("ben@example.com", "member");
    for (const [who, times] of [[anna, 1], [ben, 2]] as const) {
      const grant = crypto.randomUUID();
      for (let n = 0; n < times; n++) {
        await database.query("select app.count_read($1::text::jsonb, 'get_context', $2)", [
          JSON.stringify({ sub: who.id, organization_id: organizationId, grant_id: grant, client_name: "Claude" }),
          NOW.toISOString(),
        ]);
      }
    }
    await database.query(`select identity.record_event('member.invited', $1, $2, '{"role": "member"}', $3)`, [
      anna.id,
      organizationId,
      NOW.toISOString(),
    ]);
    await database.query("select identity.record_event('reminders.changed', $1, null, '{}', $2)", [
      ben.id,
      NOW.toISOString(),
    ]);
    const plain = async (who: Person) => (await open(who, path)).split("</style>")[1]!.replaceAll(/<[^>]+>/g, "");
    const owners = await plain(anna);
    assertStringIncludes(owners, "Claude for anna@example.com: once");
    assertStringIncludes(owners, "Claude for ben@example.com: 2 times");
    assertStringIncludes(owners, "Somebody was invited as a member");
    assertFalse(owners.includes("Reminders were changed"));
    const members = await plain(ben);
    assertStringIncludes(members, "Claude for ben@example.com: 2 times");
    assertFalse(members.includes("for anna@example.com"));
    assertStringIncludes(members, "Reminders were changed");
    assertFalse(members.includes("Somebody was invited as a member"));
    await database.query("select jobs.purge_expired($1::timestamptz + interval '92 days')", [NOW.toISOString()]);
    assertEquals(await database.query("select from app.tool_reads"), []);
  },
);

accountTest("managers of members see descriptions of security events", async (pages, database) => {
  const { anna, join, path, organizationId } = await house(pages, database);
  const [cleo, ben] = [await join("cleo@example.com", "manager"), await join("ben@example.com", "member")];
  const events: [event: string, detail: Json, said: string][] = [
    ["grant.created", { client_name: "Claude" }, "Claude was connected"],
    ["grant.revoked", { reason: "revoked_by_user" }, "An app was disconnected"],
    ["grant.revoked", { reason: "refresh_token_replayed" }, "one of its tokens was used twice"],
    ["grant.revoked", { reason: "code_replayed" }, "one of its codes was used twice"],
    ["provider.refused", {}, "A provider no longer accepts the key of a bill"],
    ["payment.activated", {}, "The plan changed"],
    ["books.exported", {}, "The books were exported"],
  ];
  for (const [event, detail] of events) {
    await database.query("select identity.record_event($1, $2, $3, $4::text::jsonb, $5)", [
      event,
      anna.id,
      organizationId,
      JSON.stringify(detail),
      NOW.toISOString(),
    ]);
  }
  const [owners, managers, members] = [await open(anna, path), await open(cleo, path), await open(ben, path)];
  for (const [event, , said] of events) {
    assertStringIncludes(owners, said, event);
    assertStringIncludes(managers, said, event);
    assertFalse(members.includes(said), event);
  }
});

accountTest("no role that serves requests can alter recorded changes", async (pages, database) => {
  const { anna, lunch, organizationId } = await house(pages, database);
  const { change_id } = await lunch(anna);
  const before = await database.query("select * from app.change_sets");
  const claims = { sub: anna.id, organization_id: organizationId };
  const read = () =>
    database.asRole(
      "service_role",
      {},
      (session) =>
        session.query("select app.count_read($1::text::jsonb, 'get_context', $2)", [
          JSON.stringify({ ...claims, grant_id: anna.id, client_name: "Claude" }),
          NOW.toISOString(),
        ]),
    );
  await read();
  await read();
  for (const role of ["service_role", "authenticated"] as const) {
    for (
      const sql of [
        "update app.change_items set after = '{}'",
        "delete from app.change_items",
        "update app.change_sets set actor_id = gen_random_uuid()",
        "update app.change_sets set created_at = now()",
        "update app.change_sets set undone_by = id",
        "update app.change_sets set moved = '{}', facts = '{}'",
        `insert into app.change_items (change_id, organization_id, table_name, row_id) select id, organization_id, 'expenses', 'x' from app.change_sets`,
        `update app.change_sets set facts = '{"count": 2}'`,
        "update identity.audit_events set event = 'a.b'",
        "delete from identity.audit_events",
        "update app.tool_reads set count = 1",
        "update app.tool_reads set count = count + 2",
        "update app.tool_reads set client_name = 'Other'",
        "delete from app.tool_reads",
        `insert into app.tool_reads (organization_id, user_id, grant_id, day, tool, count)
         select organization_id, user_id, gen_random_uuid(), day, tool, 9 from app.tool_reads`,
        "truncate app.change_sets cascade",
        "truncate app.change_items",
        "truncate app.tool_reads",
        "truncate identity.audit_events",
        "alter table app.change_items disable trigger all",
        "set session_replication_role = replica",
      ]
    ) {
      const error = await database.asRole(role, claims, (session) => session.query(sql)).then(() => null, (e) => e);
      assert(
        error && /permission denied|change_is_kept|must be owner/.test(error.message),
        `${role}: ${sql}: ${error?.message}`,
      );
    }
    await database.asRole(role, claims, (session) => session.query("delete from app.change_sets"));
    assertEquals(await database.query("select * from app.change_sets"), before);
    assertEquals(await database.query("select count from app.tool_reads"), [{ count: 2 }]);
  }
  // The same applies to a change too old to undo, whose effects are deleted.
  await database.query("select jobs.purge_expired($1::timestamptz + interval '31 days')", [NOW.toISOString()]);
  const emptied = await database.query<Json>("select * from app.change_sets");
  assertEquals(emptied.map(({ is_emptied }) => is_emptied), [true]);
  for (const role of ["service_role", "authenticated"] as const) {
    await database.asRole(role, claims, (session) => session.query("delete from app.change_sets"));
    const error = await database.asRole(
      role,
      claims,
      (session) => session.query(`update app.change_sets set facts = '{"count": 2}'`),
    ).then(() => null, (e) => e);
    assert(/change_is_kept/.test(error?.message), role);
    assertEquals(await database.query("select * from app.change_sets"), emptied);
  }
  assert(before.some(({ id }: Json) => id === change_id));
});
