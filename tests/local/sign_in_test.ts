import { assert, assertEquals, assertMatch } from "@std/assert";
import { findForm } from "../../local/form_browser.ts";
import { newestLink } from "../../local/sign_in.ts";
import { signIn, startStack } from "../_support/stack.ts";

const stack = await startStack({ args: ["--no-demo"] });
Deno.test.afterAll(async () => {
  assertEquals(await stack.stop(), 0);
  assert(!stack.log().includes('"level":"error"'), stack.log());
});

Deno.test("the embedded stack signs in a new person through the mailed link and onboarding", async () => {
  const { page } = await signIn(stack, "new@example.com", { next: "/account" });
  assertEquals([page.status, page.url.pathname], [200, "/account"]);
});

Deno.test("the embedded stack signs in a known person, without onboarding", async () => {
  await signIn(stack, "known@example.com");
  const { browser, page } = await signIn(stack, "known@example.com", { next: "/account" });
  assertEquals(page.url.pathname, "/account");
  assertEquals((await browser.open("/account")).status, 200);
});

Deno.test("the embedded stack signs in with the only link in the newest mail, which works once", async () => {
  // The first mail to an address asks for its confirmation.
  for (const _ of [1, 2]) await signIn(stack, "linked@example.com");
  const [mail] = await (await fetch(`${stack.mail_url}?to=linked@example.com`)).json();
  assertEquals(mail.html.match(/href=/g)?.length, 1);
  assertEquals(mail.subject, "Sign in to Expenses");
  assertMatch(mail.html, />\d{6}</);
  const link = new URL(await newestLink(stack, "linked@example.com"));
  assertEquals([link.origin + link.pathname, link.searchParams.get("type")], [
    `${stack.site_url}/auth/callback`,
    "email",
  ]);
  assertMatch(link.searchParams.get("token_hash")!, /^pkce_[0-9a-f]{56}$/);
  const { browser } = await signIn(stack, "second@example.com");
  const page = await browser.open(link);
  const used = await browser.submit(page, findForm(page));
  assertEquals(used.status, 400);
});
