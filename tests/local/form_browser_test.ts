import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { findForm, FormBrowser, formsOf, type Page } from "../../local/form_browser.ts";

const pageOf = (html: string): Page => ({ url: new URL("http://127.0.0.1/login?next=%2Fa"), status: 200, html });

Deno.test("formsOf() reads the values that an unedited form would send", () => {
  const [form] = formsOf(pageOf(`
    <form method="post" action="/save?x=1&amp;y=2">
      <input type="hidden" name="token" value="a&quot;b"><input name="email" type="email">
      <input type="radio" name="org" value="1"><input type="radio" name="org" value="2" checked>
      <input type="checkbox" name="agree" value="yes"><input name="gone" value="x" disabled>
      <select name="country"><option value="DE">Germany<option value="FR" selected>France</select>
      <button name="action" value="approve">Allow</button><button type="button" name="help">?</button>
    </form>`));
  assertEquals(form, {
    action: new URL("http://127.0.0.1/save?x=1&y=2"),
    method: "post",
    fields: { token: 'a"b', email: "", org: "2", country: "FR" },
    buttons: [{ name: "action", value: "approve" }],
  });
});

Deno.test("a form without an action posts to its page's URL", () => {
  assertEquals(formsOf(pageOf(`<form method="post"></form>`))[0]!.action.pathname, "/login");
});

Deno.test("findForm() reports the page's text if the form is missing", () => {
  const page = pageOf("<style>p{}</style><h1>That link was used</h1>");
  assertThrows(() => findForm(page), Error, "/login answered 200 without the form: That link was used");
});

const seen: string[] = [];
const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
  const { pathname } = new URL(request.url);
  seen.push(`${request.method} ${pathname} ${request.headers.get("cookie") ?? ""} ${await request.text()}`.trim());
  const to = (location: string, ...cookies: string[]) =>
    new Response(null, {
      status: 303,
      headers: [["location", location], ...cookies.map((cookie) => ["set-cookie", cookie] as [string, string])],
    });
  switch (pathname) {
    case "/save":
      return to("/done", "session=1; Path=/; HttpOnly", "other=2; Path=/");
    case "/forget":
      return to("/done", "session=; Path=/; Max-Age=0");
    case "/away":
      return to("http://localhost:1/callback?code=x");
    case "/loop":
      return to("/loop");
    default:
      return new Response("<p>done</p>");
  }
});
Deno.test.afterAll(() => server.shutdown());
const browser = new FormBrowser(`http://127.0.0.1:${server.addr.port}`);
const form = formsOf(
  pageOf(`<form method="post" action="${browser.site}/save"><input name="a"><button name="b" value="c"></form>`),
)[0]!;

Deno.test("FormBrowser posts a form, follows the redirect as GET and keeps cookies", async () => {
  const page = await browser.submit(pageOf(""), form, { fill: { a: "1 & 2" }, press: "c" });
  assertEquals([page.status, page.url.pathname], [200, "/done"]);
  assertEquals(seen.slice(-2), ["POST /save  a=1+%26+2&b=c", "GET /done session=1; other=2"]);
});
Deno.test("FormBrowser forgets a cookie that is deleted", async () => {
  browser.cookies.set("session", "1").set("other", "2");
  await browser.open("/forget");
  assertEquals(browser.cookieHeader, "other=2");
});
Deno.test("FormBrowser stops before another origin", async () => {
  const page = await browser.open("/away");
  assertEquals([page.status, page.url.href], [303, "http://localhost:1/callback?code=x"]);
});
Deno.test("FormBrowser refuses a missing button and endless redirects", async () => {
  assertThrows(() => browser.submit(pageOf(""), form, { press: "deny" }), Error, "/login has no button deny");
  await assertRejects(() => browser.open("/loop"), Error, "redirects endlessly");
});
