/** Connected apps on the account page: details, disconnecting, and apps that the service disconnected. */
import { assert, assertEquals, assertMatch, assertNotMatch, assertStringIncludes } from "@std/assert";
import { formsOf, NOW } from "./harness.ts";
import { accountTest, auditOf, connectApp, onboarded } from "./account_harness.ts";

accountTest(
  "GET /account shows organizations, plan and apps, and escapes others' text",
  async (pages, database) => {
    const { id, browser } = await onboarded(pages, database, "mira@example.com", {
      organization_name: `<script>alert(1)</script>`,
    });
    await connectApp(database, { userId: id, name: `"><img src=x>` });
    const page = await (await browser.get("/account?done=<b>")).text();
    assertStringIncludes(page, "Team plan, free to try until 4 December 2026");
    assertStringIncludes(page, "Unverified app · returns to claude.ai");
    assertStringIncludes(page, "never used");
    assertNotMatch(page, /<script>alert|<img src/);
    pages.clock.now = new Date("2027-01-01T00:00:00Z");
    assertStringIncludes(
      await (await browser.get("/account")).text(),
      "Free plan; the Team plan trial ended on 4 December 2026",
    );
  },
);

accountTest("POST /account/disconnect asks once, ends the grant and leaves an audit event", async (pages, database) => {
  const { id, browser } = await onboarded(pages, database);
  const grant = await connectApp(database, { userId: id, name: "Claude" });
  const question = await (await browser.get(`/account/disconnect?grant=${grant}`)).text();
  assertStringIncludes(question, "Disconnect <bdi>Claude</bdi>?");
  const response = await browser.submit(question, 'class="danger"');
  assertEquals([response.status, response.headers.get("location")], [303, "/account?done=disconnected"]);
  assertStringIncludes(await (await browser.get("/account?done=disconnected")).text(), "No app is connected yet");
  assert((await auditOf(database)).some((event) => event.includes("revoked")));
  assertEquals((await browser.get(`/account/disconnect?grant=${grant}`)).headers.get("location"), "/account");
});

accountTest(
  "GET /account reports apps that were disconnected after a replay, until the person dismisses the alert",
  async (pages, database) => {
    const { id, browser } = await onboarded(pages, database);
    const grant = await connectApp(database, { userId: id, name: "<b>Claude</b>" });
    const page = async () => await (await browser.get("/account")).text();
    assertNotMatch(await page(), /We disconnected an app/);
    await database.query("select oauth.end_grant($1, 'refresh_token_replayed', $2)", [grant, NOW.toISOString()]);
    const alerted = await page();
    assertMatch(alerted, /We disconnected an app to be safe/);
    assertStringIncludes(alerted, "&lt;b&gt;Claude&lt;/b&gt;");
    assertMatch(await page(), /We disconnected an app/);

    const other = await onboarded(pages, database, "other@example.com");
    assertNotMatch(await (await other.browser.get("/account")).text(), /We disconnected an app/);
    const theirs = formsOf(await (await other.browser.get("/account")).text())[0]!.fields.form_token!;
    await other.browser.post("/account", { form_token: theirs, action: "alerts_seen", until: "2099-01-01T00:00:00Z" });
    assertMatch(await page(), /We disconnected an app/);

    const token = formsOf(alerted).find(({ html }) => html.includes("alerts_seen"))!.fields.form_token!;
    const early = { form_token: token, action: "alerts_seen", until: new Date(NOW.getTime() - 1).toISOString() };
    assertEquals((await browser.post("/account", early)).status, 303);
    assertMatch(await page(), /We disconnected an app/);
    assertEquals((await browser.post("/account", { ...early, until: "soon" })).status, 400);

    const seen = await browser.submit(alerted, "alerts_seen");
    assertEquals([seen.status, seen.headers.get("location")], [303, "/account?done=seen"]);
    assertNotMatch(await page(), /We disconnected an app/);
  },
);

accountTest(
  "GET /account does not report an app that the person disconnected",
  async (pages, database) => {
    const { id, browser } = await onboarded(pages, database);
    const grant = await connectApp(database, { userId: id, name: "Claude" });
    await database.query("select oauth.end_grant($1, 'revoked_by_user', $2)", [grant, NOW.toISOString()]);
    assertNotMatch(await (await browser.get("/account")).text(), /We disconnected an app/);
  },
);

accountTest(
  "the account page shows and changes an app's access, only for its own person",
  async (pages, database) => {
    const { id, browser } = await onboarded(pages, database);
    const grant = await connectApp(database, { userId: id, name: "Claude" });
    assertStringIncludes(await (await browser.get("/account")).text(), "May read and write");
    const address = `/account/access?grant=${grant}`;
    const page = await (await browser.get(address)).text();
    assertStringIncludes(page, "What may <bdi>Claude</bdi> do?");
    assertMatch(page, /<input[^>]*value="write"[^>]* checked/);
    const form_token = formsOf(page).find(({ html }) => html.includes('name="access"'))!.fields.form_token!;
    for (const path of ["/account/access?grant=1", "/account/disconnect?grant=1", "/account/disconnect"]) {
      assertEquals((await browser.post(path, { form_token, access: "read" })).status, 400, path);
    }
    const saved = await browser.post(address, { form_token, access: "read" });
    assertEquals([saved.status, saved.headers.get("location")], [303, "/account?done=access_read"]);
    assertStringIncludes(await (await browser.get("/account?done=access_read")).text(), "May only read");
    assert((await auditOf(database)).some((event) => event.includes("grant.access_changed")));
    for (const fields of [{ form_token, access: "admin" }, { form_token, access: "" }]) {
      assertEquals((await browser.post(address, fields)).status, 400);
    }
    assertEquals((await browser.post(address, { form_token: "forged", access: "write" })).status >= 400, true);

    const other = await onboarded(pages, database, "other@example.com");
    assertEquals((await other.browser.get(address)).headers.get("location"), "/account");
    const theirs = formsOf(await (await other.browser.get("/account")).text())
      .find(({ fields }) => fields.form_token)!.fields.form_token!;
    const answer = await other.browser.post(address, { form_token: theirs, access: "write" });
    assertEquals(answer.headers.get("location"), "/account");
    assertStringIncludes(await (await browser.get("/account")).text(), "May only read");
  },
);

accountTest(
  "the account page shows the receivers of an app's events, and stops and allows them only for its own person",
  async (pages, database) => {
    const { id, browser } = await onboarded(pages, database);
    const grant = await connectApp(database, { userId: id, name: "Claude" });
    const account = async () => await (await browser.get("/account")).text();
    assertNotMatch(await account(), /stop_events|allow_events/);
    const subscribe = (name: string, url: string, until: string) =>
      database.query(
        `insert into app.event_subscriptions (id, grant_id, name, url, secret, place_at, leased_until, created_at, expires_at)
         values ('sub_' || md5($2 || $3), $1, $2, $3, '{}', $4, $4, $4, $5)`,
        [grant, name, url, NOW.toISOString(), until],
      );
    await subscribe("bill.due", "https://hooks.example/secret-path", "2026-11-23T10:00:00Z");
    await subscribe("digest.sent", "https://hooks.example/secret-path", "2026-11-24T10:00:00Z");
    await subscribe("price.rose", "https://hooks.example/expired", "2026-11-01T10:00:00Z");
    const shown = await account();
    assertMatch(
      shown,
      /Events sent to hooks\.example until <time[^>]+>24 November 2026<\/time>, unless renewed: Bills due, Reminder mails/,
    );
    assertNotMatch(shown, /secret-path|Price rises/);

    const other = await onboarded(pages, database, "other@example.com");
    const theirs = await (await other.browser.get("/account")).text();
    assertNotMatch(theirs, /hooks\.example/);
    const form_token = formsOf(theirs).find(({ fields }) => fields.form_token)!.fields.form_token!;
    await other.browser.post("/account", { form_token, action: "stop_events", grant_id: grant });
    assertMatch(await account(), /hooks\.example/);

    const token = formsOf(shown).find(({ html }) => html.includes("stop_events"))!.fields.form_token!;
    for (const fields of [{ form_token: token, grant_id: "all" }, { form_token: "forged", grant_id: grant }]) {
      assertEquals((await browser.post("/account", { ...fields, action: "stop_events" })).status >= 400, true);
    }
    assertMatch(await account(), /hooks\.example/);
    const stopped = await browser.submit(shown, "stop_events");
    assertEquals([stopped.status, stopped.headers.get("location")], [303, "/account?done=events_stopped"]);
    assertEquals(await database.query("select from app.event_subscriptions"), []);
    const after = await account();
    assertStringIncludes(after, "You stopped its events");

    await other.browser.post("/account", { form_token, action: "allow_events", grant_id: grant });
    assertStringIncludes(await account(), "You stopped its events");
    const allowed = await browser.submit(after, "allow_events");
    assertEquals(allowed.headers.get("location"), "/account?done=events_allowed");
    assertNotMatch(await account(), /stop_events|allow_events/);
    await browser.submit(after, "allow_events");
    assertEquals((await auditOf(database)).filter((event) => event.startsWith("grant.events")), [
      "grant.events_stopped",
      "grant.events_allowed",
    ]);
  },
);
