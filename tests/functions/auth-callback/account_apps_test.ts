/** Connected apps on the account page: details, disconnecting, and apps that we disconnected. */
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
    assertStringIncludes(page, "unverified app · returns to claude.ai");
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
  "GET /account reports apps that were disconnected because a login came back, until the person has seen it",
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
