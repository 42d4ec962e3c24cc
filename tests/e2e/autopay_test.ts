/** Automatic charges become spending without a report, whether their amount is fixed or not. */
import { assertEquals, assertMatch } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import { asDatabase } from "../functions/cron-reminders/harness.ts";
import { addLink, createSync, fakeProvider, registryOf } from "../functions/cron-provider-sync/harness.ts";
import { type Json, newMember } from "./connector_harness.ts";

const database = await sharedDatabase();

Deno.test("a year of automatic bills leaves nothing overdue and no zero total", async () => {
  let day = "2026-10-06";
  const clock = () => new Date(`${day}T09:00:00Z`);
  const { ok } = await newMember(database, { plan: "team", clock });
  const add = async (bill: Record<string, unknown>) =>
    (await ok("add_bill", { month_days: [10], autopay: true, ...bill })).data.bill.id;
  await add({ name: "Gas", amount: "80", amount_mode: "estimated" });
  const power = await add({ name: "Power", amount_mode: "variable" });
  for (const month of ["11", "12"]) {
    day = `2026-${month}-11`;
    assertEquals((await ok("list_bills")).data.bills.flatMap(({ overdue }: Json) => overdue), [], day);
    assertEquals((await ok("review_bills")).data.counts.overdue, 0);
  }
  // One month's amount is stated; later months use it until a correction.
  await ok("update_bill", {
    bill_id: power,
    occurrence: { due_on: "2026-10-10", action: "set_amount", amount: "60" },
  });
  day = "2027-01-11";
  await ok("update_bill", { bill_id: power, set: { note: "Meter in the cellar" } });
  const history = async () =>
    (await ok("list_bills", { bill_id: power })).data.payments.map((
      { due_on, amount, is_estimate }: Json,
    ) => [due_on, amount, is_estimate]);
  const before = await history();
  assertEquals(before.at(-1), ["2026-10-10", "60.00", undefined]);
  assertEquals(before[0], ["2027-01-10", "60.00", true]);
  const { recent_changes } = (await ok("get_context", { include: ["recent_changes"] })).data;
  assertMatch(
    recent_changes.map(({ summary }: Json) => summary).join("\n"),
    /Power paid automatically .*, an estimate/,
  );
  const { data, change_id } = await ok("mark_bill_paid", { bill_id: power, due_on: "2027-01-10", amount: "64.20" });
  assertEquals(data.before.amount, "60.00");
  assertEquals((await history())[0], ["2027-01-10", "64.20", undefined]);
  await ok("undo_change", { change_id });
  assertEquals((await history())[0], ["2027-01-10", "60.00", true]);
});

Deno.test("provider amounts of an automatic bill count as spending each month", async () => {
  let at = "2026-01-01T09:00:00Z";
  const clock = () => new Date(at);
  const member = await newMember(database, { plan: "team", clock });
  const { organizationId } = member;
  const ok = async (tool: string, args?: Json) => (await member.ok(tool, args)).data;
  const sync = createSync({
    database: asDatabase(database),
    now: clock,
    // January's statement is 61.00, February's 62.00.
    registry: registryOf(fakeProvider("power", ({ month }) => ({
      amount: `${60 + Number(month.start.slice(5, 7)) % 12}.00`,
      currency: "EUR",
    }))),
  });
  const { bill } = await ok("add_bill", {
    name: "Hosting",
    amount_mode: "variable",
    autopay: true,
    month_days: [20],
  });
  await addLink(database, { organizationId, billId: bill.id, provider: "power" });
  for (let month = 0; month <= 12; month++) {
    at = new Date(Date.UTC(2026, month, 2, 6)).toISOString();
    assertEquals((await sync.run()).errors, []);
  }
  // A second call within the hour fetches nothing and reveals no internals.
  assertEquals(Object.keys(await ok("sync_bill_amounts")), ["bills"]);
  at = "2027-01-03T09:00:00Z";
  const { bills: [hosting], payments } = await ok("list_bills", { bill_id: bill.id });
  assertEquals(hosting.overdue, []);
  const paid = payments.map(({ due_on, amount }: Json) => `${due_on.slice(5)} ${amount}`).toSorted();
  const expected = Array.from(
    { length: 12 },
    (_, index) => `${String(index + 1).padStart(2, "0")}-20 ${60 + index}.00`,
  );
  assertEquals(paid, expected);
  assertEquals((await ok("review_bills")).counts.overdue, 0);
  assertEquals((await ok("summarize_spending", { period: "last_year" })).total, {
    amount: "786.00",
    currency: "EUR",
    count: 12,
  });
});
