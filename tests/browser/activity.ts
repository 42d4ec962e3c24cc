/**
 * `deno task suite browser`: a person views, undoes and redoes their assistant's change, in Chromium with scripts off,
 * over the running embedded stack.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Page } from "playwright-core";
import { connectFor, type Json, personOf } from "../e2e/person.ts";
import { begin, follow, heading, journey, press, said, stack } from "./walking.ts";

const main = (page: Page) => page.locator("main").innerText();

journey("what an assistant did is seen, undone, and done again", async (page) => {
  await begin(page, "mira@example.com", "Elm Street");
  const { call, client } = await connectFor(personOf(stack, "mira@example.com"), stack.mcp_url);
  const names = async () => (await call("list_expenses")).data.rows.map(({ name }: Json) => name);
  const { data } = await call("log_expenses", { items: [{ name: "Lunch", amount: "14.50" }] });
  await call("update_expenses", { ids: [data.results[0].id], set: { amount: "20" } });
  await call("log_expenses", { items: "ABCDEF".split("").map((letter) => ({ name: `Thing ${letter}`, amount: "1" })) });

  assertEquals((await names()).length, 7);

  await page.goto("/account");
  await page.getByRole("navigation", { name: "Pages of Elm Street" }).getByRole("link", { name: "Activity" }).click();
  assertEquals(await heading(page), "Activity in Elm Street");
  const list = await main(page);
  for (const text of ["Logged Lunch, €14.50", "Changed Lunch: amount", "Test client", "Logged 6 expenses"]) {
    assertStringIncludes(list, text);
  }
  assertStringIncludes(list, "Test client for mira@example.com");
  assertStringIncludes(list, "Test client was connected");

  // Before and after, then Undo, from the list.
  await follow(page, "Changed Lunch: amount");
  for (const amount of ["€14.50", "€20.00"]) assertStringIncludes(await main(page), amount);
  await press(page, "Undo");
  assertStringIncludes(await said(page), "Done. See the changes below.");
  // The previous page still shows its button.
  await page.goBack();
  if (await page.getByRole("button", { name: "Undo", exact: true }).count() > 0) await press(page, "Undo");
  const listed = async () => (await call("list_expenses")).data.rows.find(({ name }: Json) => name === "Lunch").amount;
  assertEquals(await listed(), "14.50");

  // The page of a large change asks for confirmation.
  await page.goto("/account/activity");
  await page.getByRole("link", { name: "Undo…" }).click();
  assertStringIncludes(await heading(page) ?? "", "Logged 6 expenses");
  await press(page, "Undo");
  assertEquals(await names(), ["Lunch"]);
  await press(page, "Redo");
  assertEquals((await names()).length, 7);

  // A filter with the form's options.
  await page.goto("/account/activity");
  await page.getByText("Filter changes", { exact: true }).click();
  await page.getByLabel("Name", { exact: true }).fill("lunch");
  await page.getByLabel("Kind of change").selectOption({ label: "edited expenses" });
  await press(page, "Show");
  assertEquals(await page.getByRole("heading", { level: 3 }).allInnerTexts(), ["Changed Lunch: amount"]);
  await client.close();
});
