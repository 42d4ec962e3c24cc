/** Arguments with one meaning are executed; ambiguous ones return a question with a suggested call. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import { type Json, newMember } from "./connector_harness.ts";

const database = await sharedDatabase();

/** A person in Berlin on Tuesday, 6 October 2026. */
const newPerson = () => newMember(database, { organization: "Acme" });

Deno.test("calls that once needed a retry are understood", async () => {
  const { ok } = await newPerson();
  const { data } = await ok("log_expenses", {
    items: [
      { name: "Lunch", amount: "14,50", currency: "eur", date: "5 Oct", payee: null, category: "", tag: "team" },
      { name: "Rent", amount: 1450, date: "1 Oct 2026", category: "Housing" },
    ],
    dry_run: null,
  });
  assertEquals(data.results.map(({ status, amount, currency, date }: Json) => [status, amount, currency, date]), [
    ["created", "14.50", "EUR", "2026-10-05"],
    ["created", "1450.00", "EUR", "2026-10-01"],
  ]);
  const summary = await ok("summarize_spending", { group_by: "category", category: "Housing" });
  assertEquals(summary.data.rows.map(({ group, amount }: Json) => [group, amount]), [[["Housing"], "1450.00"]]);
  const { data: { rows } } = await ok("list_expenses", { from: "1 October", to: "5 Oct", tags: "team" });
  assertEquals(rows.map(({ name }: Json) => name), ["Lunch"]);
});

Deno.test("a day without a year is the nearest one; an ambiguous one is refused with both years", async () => {
  const { ok, fails } = await newPerson();
  const { data } = await ok("add_bill", { name: "Rent", amount: "900", first_due: "1 Nov" });
  assertEquals(data.next_dates[0], "2026-11-01");
  const far = await fails("log_expenses", { items: [{ name: "Flight", amount: "90", date: "5 March" }] });
  assertEquals([far.field, far.hint], [
    "items[0].date",
    'Ask which day is meant, and write it as "2026-03-05" or "2027-03-05".',
  ]);
  // A future November has no spending, so the person may mean last year's.
  const ahead = await fails("list_expenses", { from: "1 Nov" });
  assertMatch(ahead.hint, /"2025-11-01" or "2026-11-01"/);
  assertEquals((await fails("list_expenses", { from: "29 Feb" })).code, "date_out_of_range");
});

Deno.test('connecting "aws" is refused with the list of providers and the option of a JSON address', async () => {
  const { ok, fails } = await newPerson();
  const { data } = await ok("add_bill", { name: "Cloud", amount_mode: "variable", first_due: "2026-11-01" });
  const bill_id = data.bill.id;
  const { message, hint } = await fails("update_bill", { bill_id, provider: { action: "connect", provider: "aws" } });
  assertMatch(message, /must be one of: openai, anthropic, .*http_json/);
  assertMatch(hint, /^http_json: any JSON address/);
  const { data: { connect_url } } = await ok("update_bill", {
    bill_id,
    provider: { action: "connect", provider: "OpenAI" },
  });
  assertEquals(new URL(connect_url).searchParams.get("provider"), "openai");
});

Deno.test("a name is suggested only when it is similar", async () => {
  const { ok, fails } = await newPerson();
  for (const name of ["Cleaner", "ChatGPT Plus", "Netflix"]) {
    await ok("add_bill", { name, amount: "9", first_due: "today" });
  }
  const far = await fails("mark_bill_paid", { bill_name: "Water" });
  assertEquals([far.code, far.details.suggestions], ["not_found", []]);
  assert(!far.hint.includes("suggestions"));
  assertEquals((await fails("mark_bill_paid", { bill_name: "Netflx" })).details.suggestions, ["Netflix"]);
});

Deno.test("a salary is not recorded as a refund", async () => {
  const { fails } = await newPerson();
  for (const amount of ["-2500", -2500]) {
    const { hint } = await fails("log_expenses", { items: [{ name: "Salary", amount }] });
    assertMatch(
      hint,
      /^If a seller paid it back, .* Log income, such as a salary, with log_expenses and kind "income"\.$/,
    );
  }
});

/** Twelve team lunches and a train, and a bill that was paid. */
async function lunches(ok: (tool: string, args: Record<string, unknown>) => Promise<Json>, count = 12) {
  const lunch = { name: "Lunch", amount: "10", payee: "Canteen", tags: ["team", "Lisbon"] };
  await ok("log_expenses", {
    items: [...Array.from({ length: count }, () => lunch), { name: "Train", amount: "80" }],
    on_duplicate: "allow",
  });
  await ok("add_bill", { name: "Canteen card", payee: "Canteen", amount: "5", first_due: "today" });
  await ok("mark_bill_paid", { bill_name: "Canteen card" });
}

Deno.test("changing expenses by filter requires their count and total", async () => {
  const { ok, fails } = await newPerson();
  await lunches(ok);
  const call = { filter: { payee: "canteen", from: null }, set: { category: "Food" }, remove_tags: ["LISBON"] };
  const asked = await fails("update_expenses", call);
  assertEquals([asked.code, asked.details.confirm], ["confirmation_required", { count: 12, total: "120.00" }]);
  assertMatch(asked.message, /^This would change 12 expenses worth 120\.00 EUR\. Nothing was changed\.$/);
  const preview = await ok("update_expenses", { ...call, dry_run: true });
  assertEquals([preview.data.count, preview.data.confirm], [12, { count: 12, total: "120.00" }]);
  assertEquals((await fails("update_expenses", { ...call, confirm: { count: 11, total: "110" } })).code, asked.code);
  const { data, change_id } = await ok("update_expenses", { ...call, confirm: preview.data.confirm });
  assertEquals([data.count, data.updated.length], [12, 3]);
  assertEquals((await ok("list_expenses", { tags: ["Lisbon"] })).total_count, 0);
  assertEquals((await ok("list_expenses", { tags: ["team"] })).total_count, 12);
  // A second report changes nothing.
  const again = await ok("update_expenses", { ...call, confirm: preview.data.confirm });
  assertEquals([again.data.count, again.change_id], [0, undefined]);
  await ok("undo_change", { change_id });
  assertEquals((await ok("list_expenses", { tags: ["Lisbon"] })).total_count, 12);
  // Expenses logged in the meantime count too, so the earlier confirmation doesn't cover them.
  await ok("log_expenses", { items: [{ name: "Lunch", amount: "11", payee: "Canteen" }] });
  const stale = await fails("update_expenses", { ...call, confirm: preview.data.confirm });
  assertEquals(stale.details.confirm, { count: 13, total: "131.00" });
});

Deno.test("an empty filter, a filter without a match and a filter beside ids change nothing", async () => {
  const [{ ok, fails }, other] = [await newPerson(), await newPerson()];
  await lunches(ok, 2);
  await other.ok("log_expenses", { items: [{ name: "Lunch", amount: "10", payee: "Canteen" }] });
  const set = { note: "x" };
  for (const args of [{ set, filter: {} }, { set, filter: { query: null } }, { set }]) {
    assertEquals((await fails("update_expenses", args)).code, "invalid_argument", JSON.stringify(args));
  }
  const ids = (await ok("list_expenses", { kind: "one_off" })).data.rows.map(({ id }: Json) => id);
  assertEquals((await fails("update_expenses", { set, ids, filter: { query: "lunch" } })).code, "invalid_argument");
  assertEquals((await fails("update_expenses", { set, filter: { query: "dinner" } })).code, "not_found");
  // Neither bill payments nor another organization's lunch are among them.
  const preview = await ok("update_expenses", { set, filter: { payee: "Canteen" }, dry_run: true });
  assertEquals(preview.data.confirm, { count: 2, total: "20.00" });
  assertEquals(
    (await fails("update_expenses", { filter: { query: "lunch" }, set: { amount: "1" } })).code,
    "invalid_argument",
  );
});

Deno.test("deleting by filter requires count and total, and affects only this organization", async () => {
  const [{ ok, fails }, other] = [await newPerson(), await newPerson()];
  await lunches(ok);
  await other.ok("log_expenses", { items: [{ name: "Lunch", amount: "10", payee: "Canteen" }] });
  const call = { filter: { payee: "canteen" }, reason: "A test" };
  const asked = await fails("delete_records", call);
  assertEquals([asked.code, asked.details.confirm], ["confirmation_required", { count: 12, total: "120.00" }]);
  const preview = await ok("delete_records", { ...call, dry_run: true });
  assertEquals([preview.data.count, preview.data.deleted.length, preview.data.confirm], [12, 3, asked.details.confirm]);
  // Expenses logged in the meantime count too, so the earlier confirmation doesn't cover them.
  await ok("log_expenses", { items: [{ name: "Lunch", amount: "11", payee: "Canteen" }] });
  const stale = await fails("delete_records", { ...call, confirm: preview.data.confirm });
  assertEquals(stale.details.confirm, { count: 13, total: "131.00" });
  const { change_id } = await ok("delete_records", { ...call, confirm: stale.details.confirm });
  // The payment of the bill remains, and so does the other organization's lunch.
  assertEquals((await ok("list_expenses", { payee: "Canteen" })).data.rows.map(({ kind }: Json) => kind), [
    "bill_payment",
  ]);
  assertEquals((await other.ok("list_expenses")).total_count, 1);
  // A repeated call finds nothing more to delete.
  assertEquals((await fails("delete_records", { ...call, confirm: stale.details.confirm })).code, "not_found");
  await ok("undo_change", { change_id });
  assertEquals((await ok("list_expenses", { kind: "one_off" })).total_count, 14);
  await ok("log_expenses", { items: [{ name: "Tea", amount: "1" }] });
  assertEquals((await fails("delete_records", { filter: { query: "tea" } })).details.confirm.count, 1);
  for (const args of [{}, { filter: {} }, { filter: { query: null } }, { filter: { min_amount: "x" } }]) {
    assertEquals((await fails("delete_records", args)).code, "invalid_argument", JSON.stringify(args));
  }
});

Deno.test("the answer to a change of a hundred expenses is short", async () => {
  const member = await newPerson();
  const items = Array.from({ length: 100 }, (_, index) => ({ name: `Number ${index}`, amount: "10", note: "old" }));
  const { data: { results } } = await member.ok("log_expenses", { items });
  const ids = results.map(({ id }: Json) => id);
  const { text, envelope } = await member.call("update_expenses", { ids, set: { category: "Food", note: "new" } });
  assertEquals([envelope.data.count, envelope.data.updated.length], [100, 3]);
  assert(text.length < 3_000, `${text.length} characters`);
});

Deno.test("an expense can be changed to a refund and back", async () => {
  const { ok } = await newPerson();
  const { data: { results: [{ id }] } } = await ok("log_expenses", { items: [{ name: "Shoes", amount: "50" }] });
  const { data, change_id } = await ok("update_expenses", { ids: [id], set: { is_refund: true } });
  assertEquals([data.updated[0].before, data.updated[0].after], [{}, { is_refund: true }]);
  assertEquals((await ok("list_expenses")).totals_by_currency, { EUR: "-50.00" });
  await ok("undo_change", { change_id });
  assertEquals((await ok("list_expenses")).totals_by_currency, { EUR: "50.00" });
});

Deno.test("a preview lists the records that it would create", async () => {
  const { ok } = await newPerson();
  const logged = await ok("log_expenses", { items: [{ name: "Lunch", amount: "9" }], dry_run: true });
  assertEquals(logged.data.results[0].status, "would_create");
  const added = await ok("add_bill", { name: "Rent", amount: "900", first_due: "2026-11-01", dry_run: true });
  assertEquals(added.data.status, "would_create");
  assertEquals((await ok("list_expenses")).total_count, 0);
});
