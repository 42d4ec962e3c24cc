import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import { findForm, FormBrowser, formsOf } from "../../local/form_browser.ts";
import { signIn, startStack } from "../_support/stack.ts";

let stack = await startStack();
Deno.test.afterAll(async () => void await stack.stop());
const { demo } = stack;

Deno.test("the JSON line lists the demo data", () => {
  assertEquals([demo?.email, demo?.other_email], ["demo@example.com", "other@example.com"]);
  assertMatch(demo!.organization_id, /^org_/);
  assertMatch(demo!.other_organization_id, /^org_/);
  assertEquals(Object.keys(demo!.payment_plans), ["pro", "team"]);
});

Deno.test("the demo data has a link that signs in without a mail", async () => {
  const browser = new FormBrowser(stack.site_url);
  const login = await browser.open("/login?next=%2Faccount");
  assert("email" in formsOf(login)[0]!.fields, "the first form asks for the e-mail address");
  const [, link] = /href="([^"]+)"[^>]*>Sign in as demo@example\.com/.exec(login.html)!;
  const toSite = await fetch(link!.replaceAll("&amp;", "&"), { redirect: "manual" });
  await toSite.body?.cancel();
  const confirm = await browser.open(toSite.headers.get("location")!);
  assertMatch(confirm.html, /<h1>Sign in as <bdi>demo@example.com/);
  const account = await browser.submit(confirm, findForm(confirm));
  assertEquals([account.status, account.url.pathname], [200, "/account"]);
  assert(account.html.includes(demo!.email));
});

Deno.test("the demo data lets its people sign in by mail", async () => {
  for (const email of [demo!.email, demo!.other_email]) {
    const { page } = await signIn(stack, email, { next: "/account" });
    assertEquals([page.status, page.url.pathname], [200, "/account"]);
  }
});

Deno.test("the demo data exists once after a restart", async () => {
  await stack.stop({ keep: true });
  stack = await stack.restart();
  assertEquals(stack.demo, demo);
});

Deno.test("without a demo, signing in requires a mail", async () => {
  const stack = await startStack({ args: ["--no-demo"] });
  const login = await (await fetch(`${stack.site_url}/login`)).text();
  assertFalse(login.includes("Sign in as"));
  const response = await fetch(`${stack.local_url}/sign-in`, { redirect: "manual" });
  await response.body?.cancel();
  assertEquals(response.status, 404);
  await stack.stop();
});
