/**
 * `deno task suite browser`: the digest leads through sign-in to the books, where a person pays a bill and undoes the
 * payment, and where two people see their shared debts, in Chromium with scripts off, over the running embedded stack.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Page } from "playwright-core";
import { connectFor, type Json, personOf } from "../e2e/person.ts";
import { begin, heading, join, journey, newestMail, openSignedOut, press, said, stack } from "./walking.ts";

const main = (page: Page) => page.locator("main").innerText();

journey("what is due is paid from the digest's link, once, and taken back", async (page, _, visitor) => {
  await begin(page, "anna@example.com", "Elm Street");
  const anna = await connectFor(personOf(stack, "anna@example.com"), stack.mcp_url);
  await page.goto("/account");
  await page.getByRole("navigation", { name: "Pages of Elm Street" }).getByRole("link", { name: "Members" }).click();
  const organizationId = /organizations\/([^/]+)/.exec(page.url())![1]!;
  const ben = await join(page, await visitor(), { organizationId, email: "ben@example.com" });
  const shared = { between: ["anna@example.com", "ben@example.com"] };
  const ok = async (call: typeof anna.call, tool: string, args: Record<string, unknown>) => {
    const answer = await call(tool, args);
    assert(answer.ok, JSON.stringify(answer));
  };
  await ok(ben.call, "log_expenses", {
    items: [{ name: "Groceries run", amount: "31.21", category: "Groceries", shared }],
  });
  await ok(anna.call, "add_bill", {
    name: "Internet",
    amount: "39.90",
    frequency: "monthly",
    first_due: "today",
    shared,
  });

  const ran = await fetch(`${stack.supabase_url}/api/cron/reminders`, {
    headers: { authorization: `Bearer ${stack.cron_secret}` },
  });
  assertEquals((await ran.json()).errors, []);
  const digest = await newestMail("anna@example.com");
  // The remainder of 31.21 belongs to the payer.
  assertStringIncludes(digest, "You owe ben@example.com: €15.60");

  const books = await visitor();
  await openSignedOut(books, /https?:\/\/\S+\/books\S*/.exec(digest)![0], "anna@example.com");
  assertEquals(await heading(books), "The books of Elm Street");
  const before = await main(books);
  for (const text of ["Internet", "€39.90", "Groceries run", "You owe ben@example.com €15.60"]) {
    assertStringIncludes(before, text);
  }
  const payments = async () =>
    (await anna.call("list_expenses")).data.rows.filter(({ kind }: Json) => kind === "bill_payment")
      .map(({ name, amount }: Json) => `${name} ${amount}`);

  // A second window with the same button.
  await page.goto(`/books?organization=${organizationId}`);
  await books.getByRole("button", { name: /^Mark as paid: Internet/ }).first().click();
  assertStringIncludes(await said(books), "€39.90");
  await page.getByRole("button", { name: /^Mark as paid: Internet/ }).first().click();
  assertEquals(await payments(), ["Internet 39.90"]);
  // 19.95 is Ben's share.
  assertStringIncludes(await main(books), "ben@example.com owes you €4.35");

  await books.getByRole("button", { name: "Undo the payment of Internet" }).click();
  assertStringIncludes(await said(books), "The bill is due again.");
  assertEquals(await payments(), []);
  assertStringIncludes(await main(books), "You owe ben@example.com €15.60");

  await ok(anna.call, "settle_up", { from: "anna@example.com", to: "ben@example.com", currency: "EUR" });
  await books.goto(`/books?organization=${organizationId}`);
  assert(!(await main(books)).includes("You owe"));

  await books.getByLabel("Search expenses").fill("groceries run");
  await press(books, "Search");
  assertStringIncludes(await main(books), "Groceries run");
  await books.getByLabel("Search expenses").fill("nothing like it");
  await press(books, "Search");
  assert(!(await main(books)).includes("Groceries run"));
  await Promise.all([anna.client.close(), ben.client.close()]);
});
