/** "The rent is paid", reported twice, late or wrongly by two people and their AI clients. */
import { assertEquals, assertMatch } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import { joinMember, type Json, newMember } from "./connector_harness.ts";

const database = await sharedDatabase();

/** Ben and Anna share a household, and the rent of 1,310 is due on the 1st. It is 6 October. */
async function household() {
  let day = "2026-10-06";
  const clock = () => new Date(`${day}T09:00:00Z`);
  const ben = await newMember(database, { plan: "team", clock });
  const anna = await joinMember(database, { organizationId: ben.organizationId, clock });
  await ben.ok("add_bill", { name: "Rent", amount: "1310", month_days: [1] });
  const paid = async () =>
    (await ben.ok("list_expenses", { kind: "bill_payment" })).data.rows.map(({ amount, date }: Json) => [date, amount]);
  return { ben, anna, paid, goTo: (to: string) => void (day = to), email: ben.email };
}

Deno.test('"the rent is paid" from two people pays November once, and December keeps its reminder', async () => {
  const { ben, anna, paid, goTo, email } = await household();
  goTo("2026-11-01");
  await ben.ok("mark_bill_paid", { bill_name: "rent" });
  for (const day of ["2026-11-01", "2026-11-03", "2026-11-12"]) {
    goTo(day);
    for (const caller of [anna, ben]) {
      const { code, message, hint } = await caller.fails("mark_bill_paid", { bill_name: "rent" });
      assertEquals(code, "already_paid");
      assertMatch(message, new RegExp(`Rent due 2026-11-01.* paid by ${email} on 2026-11-01`));
      assertMatch(hint, /due_on "2026-12-01"/);
    }
  }
  assertEquals(await paid(), [["2026-11-01", "1310.00"]]);
  assertEquals((await anna.ok("list_bills")).data.bills[0].next_due, "2026-12-01");
  // The model follows the answer's suggestion.
  await anna.ok("mark_bill_paid", { bill_name: "rent", advance: true });
  await anna.fails("mark_bill_paid", { bill_name: "rent", advance: true });
  assertEquals(await paid(), [["2026-11-12", "1310.00"], ["2026-11-01", "1310.00"]]);
});

Deno.test("overdue dates are paid oldest first", async () => {
  const { ben, anna, goTo } = await household();
  goTo("2026-12-15");
  const first = await ben.ok("mark_bill_paid", { bill_name: "rent" });
  assertEquals(first.data.occurrence.due_on, "2026-11-01");
  goTo("2026-12-17");
  const second = await anna.ok("mark_bill_paid", { bill_name: "rent" });
  assertEquals(second.data.occurrence.due_on, "2026-12-01");
  goTo("2026-12-19");
  assertMatch((await ben.fails("mark_bill_paid", { bill_name: "rent" })).message, /the next date is 2027-01-01/);
});

Deno.test("a payment years from its date needs confirmation, and the suggested call works", async () => {
  const { ben, paid, goTo } = await household();
  goTo("2026-11-01");
  const { code, field, hint } = await ben.fails("mark_bill_paid", { bill_name: "rent", paid_on: "2020-01-01" });
  assertEquals([code, field], ["date_out_of_range", "paid_on"]);
  assertEquals(await paid(), []);
  const [, due_on, paid_on, days] = /due_on "(.*?)", paid_on "(.*?)" and confirm_days (\d+)/.exec(hint)!;
  await ben.ok("mark_bill_paid", { bill_name: "rent", due_on, paid_on, confirm_days: Number(days) });
  assertEquals(await paid(), [["2020-01-01", "1310.00"]]);
});

Deno.test("the amount of a paid date is corrected in one call and undone as one", async () => {
  const { ben, anna, paid, goTo } = await household();
  goTo("2026-11-01");
  await ben.ok("mark_bill_paid", { bill_name: "rent" });
  const right = { bill_name: "rent", due_on: "2026-11-01", amount: "1330", paid_on: "2026-10-31" };
  const { data, warnings, change_id } = await anna.ok("mark_bill_paid", right);
  assertEquals(data.before, { amount: "1310.00", paid_on: "2026-11-01" });
  assertEquals(warnings.map(({ code }: Json) => code), ["corrected"]);
  assertEquals(await paid(), [["2026-10-31", "1330.00"]]);
  assertMatch((await ben.fails("mark_bill_paid", right)).message, /already recorded as paid: 1330\.00 EUR/);
  await anna.ok("undo_change", { change_id });
  assertEquals(await paid(), [["2026-11-01", "1310.00"]]);
});

Deno.test('a bill due in five days is not shown as paid under "due this week"', async () => {
  const { ben, goTo } = await household();
  await ben.ok("add_bill", { name: "Netflix", amount: "15.99", month_days: [5], autopay: true });
  goTo("2026-11-30");
  const states = async (args: Record<string, unknown>) =>
    (await ben.ok("list_bills", args)).data.bills.find(({ name }: Json) => name === "Netflix")?.state;
  for (const args of [{ due_within_days: 7 }, {}, { state: "upcoming" }]) assertEquals(await states(args), "upcoming");
  assertEquals(await states({ state: "paid" }), undefined);
  // Before that, while the next date is weeks away, it counts as settled for the month.
  goTo("2026-11-10");
  assertEquals(await states({}), "paid");
  assertEquals(await states({ due_within_days: 30 }), "upcoming");
});
