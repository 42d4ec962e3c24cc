/** "Undo that", sent three times, and protection against accidental deletion. */
import { assertEquals, assertMatch } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import { connectClient, joinMember, type Json, type Member, newMember } from "./connector_harness.ts";

const database = await sharedDatabase();

/** A company with an employee, their clients, and a clock at 6 October, 9:00. */
async function company() {
  let at = "2026-10-06T09:00:00Z";
  const clock = () => new Date(at);
  const owner = await newMember(database, { organization: "Acme", plan: "team", clock });
  const employee = await joinMember(database, { organizationId: owner.organizationId, clock });
  return { owner, employee, clock, goTo: (to: string) => void (at = to) };
}

const log = (member: Member, name: string, amount: string) =>
  member.ok("log_expenses", { items: [{ name, amount }], on_duplicate: "allow" });
const names = async (member: Member) =>
  (await member.ok("list_expenses")).data.rows.map(({ name }: Json) => name).toSorted();

Deno.test("each each repeated undo reverts one change, and old changes need their id", async () => {
  const { owner, clock, goTo } = await company();
  goTo("2026-10-03T18:00:00Z");
  const groceries = await log(owner, "Groceries", "80");
  goTo("2026-10-06T09:00:00Z");
  assertMatch((await owner.fails("undo_change")).message, /"Logged Groceries, 80\.00 EUR", was made more than 30/);
  await log(owner, "Payment", "15");
  await owner.ok("undo_change");
  for (let retry = 0; retry < 2; retry++) {
    const { code, message, retryable } = await owner.fails("undo_change");
    assertEquals([code, retryable], ["already_undone", false]);
    assertMatch(message, /^"Logged Payment, 15\.00 EUR" has already been undone\.$/);
  }
  assertEquals(await names(owner), ["Groceries"]);
  // Another connection of the same person has no change to undo.
  const phone = await connectClient(database, owner, clock);
  await log(owner, "Tea", "2");
  assertEquals((await phone.fails("undo_change")).code, "not_found");
  await phone.ok("undo_change", { change_id: groceries.change_id });
  assertEquals(await names(owner), ["Tea"]);
});

Deno.test("a retried undo with the same key returns the first result", async () => {
  const { owner } = await company();
  await log(owner, "Dinner", "40");
  await log(owner, "Tea", "2");
  const args = { idempotency_key: "undo-that-1" };
  const first = await owner.ok("undo_change", args);
  const again = await owner.ok("undo_change", args);
  assertEquals([again.replayed, again.change_id], [true, first.change_id]);
  assertEquals(await names(owner), ["Dinner"]);
});

Deno.test("an employee cannot accidentally delete Payroll and its payments in one call", async () => {
  const { owner, employee, goTo } = await company();
  const { data: { bill } } = await owner.ok("add_bill", { name: "Payroll", amount: "48250", month_days: [28] });
  for (const month of ["10", "11", "12"]) {
    goTo(`2026-${month}-28T09:00:00Z`);
    await owner.ok("mark_bill_paid", { bill_id: bill.id });
  }
  const { code, message, hint } = await employee.fails("delete_records", { ids: [bill.id] });
  assertEquals([code, message], [
    "confirmation_required",
    "This would delete 4 records worth 144750.00 EUR. Nothing was deleted.",
  ]);
  const preview = await employee.ok("delete_records", { ids: [bill.id], dry_run: true });
  assertEquals([preview.data.confirm, preview.change_id], [{ count: 4, total: "144750.00" }, undefined]);
  assertEquals((await owner.ok("list_bills")).data.bills.length, 1);
  // The confirmation no longer matches after another payment.
  await owner.ok("mark_bill_paid", { bill_id: bill.id, advance: true });
  const stale = await employee.fails("delete_records", { ids: [bill.id], confirm: preview.data.confirm });
  assertEquals(stale.details.confirm, { count: 5, total: "193000.00" });
  assertMatch(hint, /confirm \{"count": 4/);
  await employee.ok("delete_records", { ids: [bill.id], confirm: stale.details.confirm });
  await employee.ok("undo_change");
  assertEquals((await owner.ok("list_bills")).data.bills.length, 1);
});
