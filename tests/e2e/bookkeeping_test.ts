/**
 * A bookkeeper's questions: the VAT of a quarter, open reimbursements, and a receipt split over categories. They come
 * through an AI client with its retries and mistakes.
 */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import { joinMember, type Json, type Member, newMember } from "./connector_harness.ts";

const database = await sharedDatabase();

/** A freelancer and a bookkeeper in one organization, on 6 October 2026. */
async function company() {
  const owner = await newMember(database, { organization: "Studio", plan: "team" });
  return { owner, bookkeeper: await joinMember(database, { organizationId: owner.organizationId }) };
}

const Q3 = { from: "2026-07-01", to: "2026-09-30" };

Deno.test("the VAT of a quarter is summed by currency", async () => {
  const { owner, bookkeeper } = await company();
  await owner.ok("log_expenses", {
    items: [
      // In the form that people type.
      { name: "Desk", amount: "119,00 EUR", tax_percent: "19", date: "2026-07-14" },
      { name: "Train", amount: 53.5, tax: "3,50", date: "2026-08-03" },
      { name: "Desk lamp", amount: "11.90", tax_percent: 19, is_refund: true, date: "2026-09-30" },
      { name: "Postage", amount: "5.60", date: "2026-09-01" },
      { name: "Later", amount: "119", tax_percent: 19, date: "2026-10-01" },
    ],
  });
  const { data, total_count } = await bookkeeper.ok("list_expenses", { ...Q3, limit: 1 });
  // 19.00 + 3.50 - 1.90, from three of four payments, because the postage has no recorded tax.
  assertEquals([data.tax_by_currency, total_count], [{ EUR: { amount: "20.60", count: 3, without_tax: 1 } }, 4]);

  const net = { items: [{ name: "Chair", amount: "100", tax: "19.00", tax_percent: 19, date: "2026-09-02" }] };
  const refused = await owner.fails("log_expenses", net);
  assertMatch(refused.message, /100\.00 EUR contains 15\.97 EUR of tax at 19%, not 19\.00 EUR/);
  assertMatch(refused.hint, /"119\.00"/);
  await owner.ok("log_expenses", { items: [{ ...net.items[0], amount: "119.00" }] });
  assertEquals((await owner.ok("list_expenses", Q3)).data.tax_by_currency.EUR.amount, "39.60");

  const { data: file } = await bookkeeper.ok("list_expenses", { ...Q3, format: "csv" });
  const [header, ...lines] = file.csv.trim().split("\r\n").map((line: string) => line.split(","));
  const column = header.indexOf("tax");
  assertEquals(lines.map((line: string[]) => line[column]), ["-1.90", "19.00", "", "3.50", "19.00"]);
});

Deno.test("open reimbursements are listed with their total", async () => {
  const { owner, bookkeeper } = await company();
  const { data } = await owner.ok("log_expenses", {
    items: [
      { name: "Hotel", amount: "240", date: "2026-09-10", reimbursement: "open", reimbursed_by: "Client" },
      { name: "Taxi", amount: "30", date: "2026-09-11", reimbursement: "open", reimbursed_by: "Client" },
      { name: "Pens", amount: "8", date: "2026-09-11" },
    ],
  });
  const open = async () => {
    const { data, totals_by_currency } = await bookkeeper.ok("list_expenses", { reimbursement: "open" });
    return [data.rows.map(({ name, reimbursed_by }: Json) => `${name}: ${reimbursed_by}`), totals_by_currency];
  };
  assertEquals(await open(), [["Taxi: Client", "Hotel: Client"], { EUR: "270.00" }]);
  const paid = { filter: { reimbursement: "open" }, set: { reimbursement: "done", reimbursed_on: "yesterday" } };
  const { data: { confirm } } = await bookkeeper.ok("update_expenses", { ...paid, dry_run: true });
  assertEquals(confirm, { count: 2, total: "270.00" });
  const { change_id } = await bookkeeper.ok("update_expenses", { ...paid, confirm });
  assertEquals(await open(), [[], {}]);
  // The money was spent; only a refund lowers the total.
  assertEquals((await owner.ok("summarize_spending", Q3)).data.total.amount, "278.00");
  await bookkeeper.ok("undo_change", { change_id });
  assertEquals((await open())[1], { EUR: "270.00" });
  const one = data.results[1].id;
  await owner.ok("update_expenses", { ids: [one], set: { reimbursed_on: "2026-10-05" } });
  assertEquals(await open(), [["Hotel: Client"], { EUR: "240.00" }]);
});

Deno.test("a split records 60 for groceries and the rest as a present", async () => {
  const { owner, bookkeeper } = await company();
  await owner.ok("update_settings", { budget: { action: "set", category: "Gifts", amount: "50" } });
  const receipt = { name: "Supermarket", amount: "79.99", tax_percent: 7, date: "2026-10-05" };
  const call = {
    items: [{ ...receipt, split: [{ amount: "60", category: "Groceries" }, { amount: "20", category: "Gifts" }] }],
    idempotency_key: "receipt-0001",
  };
  const refused = await owner.fails("log_expenses", call);
  assertMatch(refused.message, /add up to 80\.00 EUR, but the expense is 79\.99 EUR: 0\.01 EUR too much/);
  delete (call.items[0]!.split[1] as Json).amount;
  const logged = await owner.ok("log_expenses", call);
  // The response was lost, so the client repeats the call.
  assertEquals((await owner.ok("log_expenses", call)).data, logged.data);
  // A person who doesn't know about the split logs the whole amount, which is a duplicate too.
  assertEquals((await bookkeeper.ok("log_expenses", { items: [receipt] })).data.results[0].status, "duplicate");

  const rows = async () => (await owner.ok("list_expenses", { order: "asc" })).data.rows as Json[];
  const shown = async () => (await rows()).map(({ category, amount, tax }) => `${category} ${amount} ${tax}`);
  assertEquals(await shown(), ["Groceries 60.00 3.92", "Gifts 19.99 1.31"]);
  const [first, second] = await rows();
  assertEquals(first.split_id, second.split_id);
  const { data: month } = await owner.ok("summarize_spending", { period: "this_month" });
  assertEquals([month.total.amount, month.budgets[0].left], ["79.99", "30.01"]);

  // Two people correct it concurrently; the second gets the current version.
  const correct = (member: Member, amount: string) =>
    member.call("update_expenses", {
      ids: [second.id],
      set: { split: [{ amount, category: "Groceries" }, { category: "Gifts" }] },
      expected_version: second.version,
    });
  const answers = await Promise.all([correct(owner, "50"), correct(bookkeeper, "55")]);
  assertEquals(answers.map(({ envelope }) => envelope.error?.code ?? "ok").toSorted(), ["ok", "stale_version"]);
  const total = (await rows()).reduce((sum, { amount }) => sum + Math.round(Number(amount) * 100), 0);
  assertEquals([total, (await rows()).length], [7999, 2]);

  const split = answers.find(({ envelope }) => envelope.ok)!.envelope;
  const who = answers[0]!.envelope.ok ? owner : bookkeeper;
  await who.ok("undo_change", { change_id: split.change_id });
  assertEquals(await shown(), ["Groceries 60.00 3.92", "Gifts 19.99 1.31"]);
  await owner.ok("undo_change", { change_id: logged.change_id });
  assertEquals(await rows(), []);
});

Deno.test("split is refused for another organization and after the plan ends", async () => {
  const { owner } = await company();
  const { data } = await owner.ok("log_expenses", { items: [{ name: "Shop", amount: "80", date: "2026-10-05" }] });
  const split = { ids: [data.results[0].id], set: { split: [{ amount: "60", category: "Food" }, {}] } };
  const stranger = await company();
  assertEquals((await stranger.owner.fails("update_expenses", split)).code, "not_found");
  await database.query(
    "update identity.organizations set plan = 'free', trial_ends_at = '2026-10-01' where id = $1",
    [owner.organizationId],
  );
  assertStringIncludes((await owner.call("update_expenses", split)).text, "feature_not_in_plan");
  const stored = await database.query("select split_id from app.payments where expense_id = $1", [data.results[0].id]);
  assertEquals(stored, [{ split_id: null }]);
});
