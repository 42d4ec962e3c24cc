import { assert, assertEquals, assertMatch } from "@std/assert";
import { findForm } from "../../local/form_browser.ts";
import { newestLink } from "../../local/sign_in.ts";
import { signIn, startStack } from "../_support/stack.ts";

Deno.test("the embedded stack signs people in", async (t) => {
  const stack = await startStack({ args: ["--no-demo"] });
  try {
    await t.step("a new person, by the mailed link, through onboarding", async () => {
      const { page } = await signIn(stack, "new@example.com", { next: "/account" });
      assertEquals([page.status, page.url.pathname], [200, "/account"]);
    });

    await t.step("a known person, without onboarding", async () => {
      const { browser, page } = await signIn(stack, "new@example.com", { next: "/account" });
      assertEquals(page.url.pathname, "/account");
      assertEquals((await browser.open("/account")).status, 200);
    });

    await t.step("with exactly one link in the newest mail, which works once", async () => {
      const [mail] = await (await fetch(`${stack.mail_url}?to=new@example.com`)).json();
      assertEquals(mail.html.match(/href=/g)?.length, 1);
      assertEquals(mail.subject, "Sign in to Expenses");
      assertMatch(mail.html, />\d{6}</);
      const link = new URL(await newestLink(stack, "new@example.com"));
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
    assert(!stack.log().includes('"level":"error"'), stack.log());
  } finally {
    assertEquals(await stack.stop(), 0);
  }
});
