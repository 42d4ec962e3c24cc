/** A statement is imported from a file that no model sees: link, page, preview, commit. */
import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { findForm } from "../../local/form_browser.ts";
import { signIn, startStack } from "../_support/stack.ts";
import { connectFor, newPerson } from "./person.ts";

const STATEMENT = [
  "Date,Description,Amount,Balance,Currency",
  "2026-10-01,LIDL SAGT DANKE 4411,-23.80,976.20,EUR",
  "2026-10-02,Księgarnia Łódź,-54.90,921.30,EUR",
  "2026-10-15,Salary,2500.00,3421.30,EUR",
].join("\n");
const file = (text = STATEMENT) => new File([inWindows1250(text)], "october.csv", { type: "text/csv" });
const WINDOWS_1250: Record<string, number> = { ę: 0xea, Ł: 0xa3, ó: 0xf3, ź: 0x9f };
const inWindows1250 = (text: string) => Uint8Array.from(text, (letter) => WINDOWS_1250[letter] ?? letter.charCodeAt(0));
const takesFile = (form: { fields: Record<string, string> }) => "file" in form.fields;

Deno.test("a statement uploaded through the assistant's link is in the books after its preview is committed", async () => {
  await using stack = await startStack({ args: ["--no-demo"] });
  const mira = await newPerson(stack, "mira@example.com");
  const { client, call } = await connectFor(mira, stack.mcp_url);
  const { data: { upload } } = await call("import_expenses");
  assertEquals(upload.url, `${stack.site_url}/account/import/${upload.import_id}`);
  const early = await call("import_expenses", { import_id: upload.import_id });
  assertEquals([early.ok, early.error.code], [false, "not_found"], "nothing has been uploaded yet");

  const { browser } = await signIn(stack, mira.email);
  const form = await browser.open(upload.url);
  const read = await browser.upload(form, findForm(form, takesFile), { name: "file", file: file() });
  assertEquals([read.status, read.url.href], [200, upload.url]);
  assertStringIncludes(read.html, "It’s uploaded.");
  const again = await browser.upload(form, findForm(form, takesFile), { name: "file", file: file("other") });
  assertEquals(again.status, 409);
  // The link does not open in another person's session.
  const eva = await newPerson(stack, "eva@example.com");
  const other = await (await signIn(stack, eva.email)).browser.open(upload.url);
  assertEquals(other.status, 404);
  assertFalse(other.html.includes("october.csv"));

  const { data: { preview } } = await call("import_expenses", { import_id: upload.import_id });
  assertEquals([preview.rows_ok, preview.questions, preview.totals], [2, [], { EUR: "78.70" }]);
  assertEquals(preview.period, { from: "2026-10-01", to: "2026-10-02" });
  assertEquals([preview.mapping.encoding, preview.sample[1].name], ["windows-1250", "Księgarnia Łódź"]);
  const { data } = await call("import_expenses", preview.commit_with);
  assertEquals([data.created, data.totals], [2, { EUR: "78.70" }]);
  const { total_count, totals_by_currency } = await call("list_expenses", { from: "2026-10-01", to: "2026-10-31" });
  assertEquals([total_count, totals_by_currency], [2, { EUR: "78.70" }]);
  assertStringIncludes((await browser.open(upload.url)).html, "This file is in your books");

  // The export writes spending with a minus, but its balance contradicts that, so no row counts as spending until the
  // question is answered.
  const { data: { upload: next } } = await call("import_expenses");
  const contradictory = [
    "Type,Product,Started Date,Completed Date,Description,Amount,Fee,Currency,State,Balance",
    "CARD_PAYMENT,Current,2026-10-03 10:00:00,2026-10-03 10:00:00,Aldi,10.00,0.00,EUR,COMPLETED,990.00",
    "CARD_PAYMENT,Current,2026-10-04 10:00:00,2026-10-04 10:00:00,Rewe,20.00,0.00,EUR,COMPLETED,970.00",
  ].join("\n");
  const second = await browser.open(next.url);
  await browser.upload(second, findForm(second, takesFile), { name: "file", file: file(contradictory) });
  const { import_id } = next;
  const { error } = await call("import_expenses", { import_id });
  assertEquals([error.code, error.details.questions[0].id], ["needs_answer", "negative_is_expense"]);
  const answered = await call("import_expenses", { import_id, answers: { negative_is_expense: false } });
  assertEquals([answered.data.preview.rows_ok, answered.data.preview.totals], [2, { EUR: "30.00" }]);

  // A file whose header names no day raises a question too: the page stores it, and the answer also applies to the
  // next file.
  const unknown = (month: string) => `Zorv,Wex,Blork\n2026-${month}-03,Penny,12.00\n2026-${month}-04,Edeka,3.50`;
  const uploaded = async (month: string) => {
    const { data: { upload: { url, import_id } } } = await call("import_expenses", { account: "Zorv bank" });
    const page = await browser.open(url);
    const sent = await browser.upload(page, findForm(page, takesFile), { name: "file", file: file(unknown(month)) });
    return { import_id, html: sent.html };
  };
  const asked = await uploaded("09");
  assertStringIncludes(asked.html, "has a question before we can read it");
  const unclear = await call("import_expenses", { import_id: asked.import_id });
  assertEquals([unclear.error.field, unclear.error.details.import_id], ["mapping.date", asked.import_id]);
  assertStringIncludes(unclear.error.message, '"Zorv" (2026-09-03, 2026-09-04)');
  const mapping = { date: "Zorv", name: "Wex", amount: "Blork" };
  const told = await call("import_expenses", { import_id: asked.import_id, mapping });
  await call("import_expenses", told.data.preview.commit_with);
  const known = await call("import_expenses", { import_id: (await uploaded("08")).import_id });
  assertEquals([known.data.preview.questions, known.data.preview.totals], [[], { EUR: "15.50" }]);
  assert(!/LIDL|Aldi/.test(stack.log()), "nothing of a file is logged");
  await client.close();
});

Deno.test("a file of 10 MB passes through the front door, and a page refuses a larger one", async () => {
  await using stack = await startStack({ args: ["--no-demo"] });
  const mira = await newPerson(stack, "mira@example.com");
  const { client, call } = await connectFor(mira, stack.mcp_url);
  const { data: { upload } } = await call("import_expenses");
  const { browser } = await signIn(stack, mira.email);
  const form = await browser.open(upload.url);
  const send = (bytes: number) => {
    const long = `2026-10-02,Stadtwerke,-54.90,921.30,EUR,${"x".repeat(bytes - STATEMENT.length - 60)}`;
    const text = [...STATEMENT.split("\n").map((line, i) => `${line},${i ? "" : "Note"}`), long].join("\n");
    return browser.upload(form, findForm(form, takesFile), { name: "file", file: file(text) });
  };
  const large = await send(11 * 1024 * 1024);
  assertEquals(large.status, 413);
  assertStringIncludes(large.html, "larger than 10 MB");
  const most = await send(10 * 1024 * 1024);
  assertEquals([most.status, most.url.pathname], [200, new URL(upload.url).pathname]);
  assertStringIncludes(most.html, "It’s uploaded.");
  await client.close();
});
