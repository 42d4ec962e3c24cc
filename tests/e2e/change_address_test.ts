/** A new sign-in address, through the identity provider's own mails and links, on the running stack. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { findForm, FormBrowser } from "../../local/form_browser.ts";
import { newestLink, signIn } from "../../local/sign_in.ts";
import { startStack } from "../_support/stack.ts";

Deno.test("the links in both mails change an address, and signing out elsewhere ends other sessions", async () => {
  await using stack = await startStack({ args: ["--no-demo"] });
  const { browser } = await signIn(stack, "ann@example.com");
  const form = await browser.open("/account/email");
  const sent = await browser.submit(form, findForm(form, ({ fields }) => "email" in fields), {
    fill: { email: "ann.new@example.com" },
  });
  assertStringIncludes(sent.html, "Check both inboxes");

  // The browsers that open the links have no session.
  const visitor = new FormBrowser(stack.site_url);
  const press = async (address: string) => {
    const page = await visitor.open(await newestLink(stack, address));
    assertStringIncludes(page.html, "ann.new@example.com");
    return await visitor.submit(page, findForm(page));
  };
  const first = await press("ann.new@example.com");
  assertStringIncludes(first.html, "One more email");
  const second = await press("ann@example.com");
  assertStringIncludes(second.html, "Your sign-in address has changed");
  assertEquals((await visitor.open("/account")).url.pathname, "/login");
  assertStringIncludes((await browser.open("/account")).html, "ann.new@example.com");

  // The new address signs in to the same account, and that session ends the old browser's session.
  const { browser: fresh, page } = await signIn(stack, "ann.new@example.com");
  assertEquals(page.url.pathname, "/account");
  const signedOut = await fresh.submit(
    page,
    findForm(page, ({ fields }) => fields.action === "sign_out_elsewhere"),
  );
  assertStringIncludes(signedOut.html, "signed out everywhere else");
  assertEquals((await fresh.open("/account")).url.pathname, "/account");
  assert((await browser.open("/account")).url.pathname === "/login");
});
