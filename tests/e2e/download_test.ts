/** A file with more expenses than an answer can contain. The browser opens its link, and the rows bypass the model. */
import { assert, assertEquals } from "@std/assert";
import { signIn, startStack } from "../_support/stack.ts";
import { connectFor, newPerson } from "./person.ts";

const COUNT = 160;
/** The limit of an answer is 25,000 characters. */
const NOTE = "said at dinner ".repeat(16).trim();

Deno.test("a year's file is downloaded completely from its link, only by its requester", async () => {
  await using stack = await startStack({ args: ["--no-demo"] });
  const mira = await newPerson(stack, "mira@example.com");
  const { client, call } = await connectFor(mira, stack.mcp_url);
  for (let from = 0; from < COUNT; from += 40) {
    const items = Array.from(
      { length: 40 },
      (_, index) => ({ name: `Number ${from + index}`, amount: "1.10", note: NOTE }),
    );
    assertEquals((await call("log_expenses", { items })).ok, true);
  }
  const { data, total_count, totals_by_currency } = await call("list_expenses", { format: "csv" });
  assertEquals([data.csv, total_count, totals_by_currency], [undefined, COUNT, { EUR: "176.00" }]);
  assert(JSON.stringify(data).length < 1_500, "the answer is a link, not the file");

  const { browser } = await signIn(stack, mira.email);
  const { status, html: file } = await browser.open(data.csv_url);
  const lines = file.trimEnd().split("\r\n").slice(1);
  assertEquals([status, lines.length], [200, COUNT]);
  assertEquals(new Set(lines.map((line) => line.split(",")[3])).size, COUNT, "each expense once");
  // The link doesn't work in another person's session.
  const eva = await newPerson(stack, "eva@example.com");
  const other = await (await signIn(stack, eva.email)).browser.open(data.csv_url);
  assert(other.status >= 400 && !other.html.includes("Number 1"), String(other.status));
  await client.close();
});
