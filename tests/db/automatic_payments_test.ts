/** Automatic payments: a roll records those with an amount, and the others wait for one. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { addRate, type Books, type Json, openBooks } from "../_support/books.ts";
import type { TestDatabase } from "../_support/database.ts";
import { addBill, expected, overdueOf, refresh, showBill, test } from "./occurrence_bills.ts";

test(
  "automatic payments of a fixed amount are recorded on their due dates when the bill rolls",
  async (database, books) => {
    const bill = await addBill(books, { name: "Netflix", amount: "15.99", first_due: "2026-12-05", autopay: true });
    books.goTo("2027-02-05");
    const read = await showBill(books, bill.id);
    // Today's date has not passed.
    assertEquals([read.overdue, read.next_due, read.state], [[], "2027-02-05", "due"]);
    await refresh(database, bill.id, "2027-02-05");
    assertEquals(await showBill(books, bill.id), read);
    assertEquals(
      await database.query(
        `select p.paid_on, p.amount_minor, p.source, p.base_minor, p.paid_by, o.status from app.payments as p
       join app.expense_occurrences as o on o.id = p.occurrence_id where p.expense_id = $1 order by p.paid_on`,
        [bill.id],
      ),
      ["2026-12-05", "2027-01-05"].map((paid_on) => ({
        paid_on,
        amount_minor: 1599,
        source: "autopay",
        base_minor: 1599,
        paid_by: null,
        status: "paid",
      })),
    );
    const changes = await database.query(
      "select tool, actor_id, facts from app.change_sets where tool = 'autopay' order by recorded_seq",
    );
    assertEquals(
      changes,
      ["2026-12-05", "2027-01-05"].map((day) => ({
        tool: "autopay",
        actor_id: books.userId,
        facts: { name: "Netflix", due_on: day, amount: "15.99", currency: "EUR" },
      })),
    );
  },
);

test("a one-time bill that was charged automatically before it was added is paid", async (database, books) => {
  const bill = await addBill(books, { frequency: "once", first_due: "2026-11-02", autopay: true });
  assertEquals([bill.status, bill.state], ["ended", "paid"]);
  assertEquals(await database.query("select paid_on, source from app.payments where expense_id = $1", [bill.id]), [
    { paid_on: "2026-11-02", source: "autopay" },
  ]);
});

test(
  "a one-time bill whose automatic payment is reopened is overdue until somebody pays it",
  async (database, books) => {
    const bill = await addBill(books, { frequency: "once", first_due: "2026-12-05", autopay: true });
    await refresh(database, bill.id, "2026-12-06");
    books.goTo("2026-12-06");
    assertEquals((await showBill(books, bill.id)).state, "paid");
    const occurrence = { action: "reopen", due_on: "2026-12-05" };
    await books.ok("update_bill", { bill_id: bill.id, occurrence });
    await refresh(database, bill.id, "2026-12-20");
    books.goTo("2026-12-20");
    const shown = await showBill(books, bill.id);
    assertEquals([shown.state, overdueOf(shown)], ["overdue", ["2026-12-05"]]);
    await books.ok("mark_bill_paid", { bill_id: bill.id });
    assertEquals((await showBill(books, bill.id)).state, "paid");
  },
);

test("payer and charge can be added to an automatic payment", async (database, books) => {
  const ben = await books.join();
  await addRate(database, "USD", "2026-12-04", "1.25");
  const bill = await addBill(books, { first_due: "2026-12-05", autopay: true, amount: "15", currency: "USD" });
  await refresh(database, bill.id, "2026-12-06");
  books.goTo("2026-12-06");
  const due = { bill_id: bill.id, due_on: "2026-12-05" };
  await books.ok("mark_bill_paid", { ...due, paid_by: `${ben.userId}@example.com` });
  const { payment } = await books.ok("mark_bill_paid", { ...due, charged: { amount: "13.70", currency: "EUR" } });
  assertEquals([payment.amount, payment.base_amount], ["15.00", "13.70"]);
  const { rows: [row] } = await books.ok("list_expenses", { member: `${ben.userId}@example.com` });
  assertEquals([row.amount, row.base_amount], ["15.00", "13.70"]);
});

test("an automatic payment names its payer, or nobody if several people could have paid", async (_, books) => {
  await addBill(books, { name: "Club", first_due: "2026-11-28", amount: "5", autopay: true });
  books.goTo("2026-12-05");
  await books.ok("log_expenses", { items: [{ name: "Tea", amount: "1" }] });
  const payers = async () => (await books.ok("list_expenses")).rows.map(({ paid_by }: Json) => paid_by);
  assertEquals(await payers(), [undefined, undefined]);
  await books.join();
  assertEquals(await payers(), [undefined, "nobody named"]);
});

test("upcoming dates are attributed to the person who is expected to pay", async (_database, books) => {
  const ben = await books.join();
  const mail = `${ben.userId}@example.com`;
  await addBill(books, { name: "Rent", first_due: "2026-11-28", paid_by: mail, amount: "900" });
  await addBill(books, { name: "Gym", first_due: "2026-11-29", amount: "30" });
  await addBill(books, { name: "Club", first_due: "2026-11-30", amount: "5", autopay: true });
  const args = { from: "2026-11-20", to: "2026-11-30", include_upcoming: true };
  const total = async (more: Json) => (await books.ok("summarize_spending", { ...args, ...more })).total.amount;
  assertEquals([await total({}), await total({ member: mail }), await total({ member: "me" })], [
    "935.00",
    "900.00",
    "30.00",
  ]);
});

test("an undone automatic payment is not recorded again", async (database, books) => {
  const bill = await addBill(books, { first_due: "2026-12-05", autopay: true });
  await refresh(database, bill.id, "2027-01-10");
  await database.query("delete from app.payments where expense_id = $1", [bill.id]);
  await database.query("update app.expense_occurrences set status = 'open', closed_at = null where expense_id = $1", [
    bill.id,
  ]);
  await refresh(database, bill.id, "2027-01-20");
  books.goTo("2027-01-20");
  assertEquals(overdueOf(await showBill(books, bill.id)), ["2026-12-05", "2027-01-05"]);
});

const paymentsOf = (database: TestDatabase, id: string) =>
  database.query(
    "select paid_on, amount_minor, is_estimate, source from app.payments where expense_id = $1 and deleted_at is null " +
      "order by paid_on",
    [id],
  );
const warningsOf = async (books: Books, args: Json): Promise<string[]> =>
  (await books.call("summarize_spending", args)).warnings.map(({ message }: Json) => message);
const paid = (paid_on: string, amount_minor: number, is_estimate: boolean) => ({
  paid_on,
  amount_minor,
  is_estimate,
  source: "autopay",
});

test(
  "an automatic payment that waited for its amount takes over the expense of that amount",
  async (database, books) => {
    const addBill = async (name: string) =>
      (await books.ok("add_bill", { name, amount_mode: "variable", first_due: "2026-12-05", autopay: true })).bill.id;
    books.goTo("2026-12-05");
    const items = ["Gas", "Power"].map((name) => ({ name, amount: "84", date: "2026-12-04" }));
    await books.ok("log_expenses", { items });
    const [gas, power] = [await addBill("Gas"), await addBill("Power")];
    books.goTo("2026-12-06");
    const set = (bill_id: string, amount: string) =>
      books.call("update_bill", { bill_id, occurrence: { due_on: "2026-12-05", action: "set_amount", amount } });
    assertEquals((await set(gas, "84")).warnings, []);
    assertEquals(await paymentsOf(database, gas), [paid("2026-12-04", 8400, false)]);
    // A person's amount is exact, so both payments count, and the answer reports it.
    const { warnings } = await set(power, "80");
    assertEquals(warnings.map(({ code }: Json) => code), ["already_spent"]);
    assertStringIncludes(warnings[0].message, "84.00 EUR on 2026-12-04, is recorded already as an expense of another");
    assertStringIncludes(warnings[0].message, "both count now");
    assertEquals(await paymentsOf(database, power), [paid("2026-12-05", 8000, false)]);
    assertEquals((await books.call("list_expenses")).totals_by_currency, { EUR: "248.00" });
  },
);

test("an estimated amount is recorded as an estimate, which a person can correct", async (database, books) => {
  const { bill } = await books.ok("add_bill", {
    name: "Gas",
    amount: "80",
    amount_mode: "estimated",
    first_due: "2026-12-05",
    autopay: true,
  });
  books.goTo("2026-12-20");
  assertEquals([(await showBill(books, bill.id)).overdue, (await showBill(books, bill.id)).state], [[], "paid"]);
  await refresh(database, bill.id, "2026-12-20");
  assertEquals(await paymentsOf(database, bill.id), [paid("2026-12-05", 8000, true)]);
  const { payments } = await books.ok("list_bills", { bill_id: bill.id });
  assertEquals([payments[0].amount, payments[0].is_estimate], ["80.00", true]);
  // The answer marks the amount as provisional.
  const [row] = (await books.ok("list_expenses")).rows;
  assertEquals([row.name, row.is_estimate], ["Gas", true]);
  const { csv } = await books.ok("list_expenses", { format: "csv" });
  assertEquals(csv.split("\r\n").map((line: string) => line.split(",").at(-2)).slice(0, 2), ["is_estimate", "true"]);
  assertEquals(await warningsOf(books, { period: "this_month" }), [
    "1 automatic payment of this period, 80.00 EUR, is an estimate and will change when the real amount is known.",
  ]);
  assertEquals(await warningsOf(books, { period: "this_month", query: "water" }), []);
  // A stated charge replaces the estimate, even with the same amount.
  await books.ok("mark_bill_paid", { bill_id: bill.id, due_on: "2026-12-05", amount: "80" });
  assertEquals(await paymentsOf(database, bill.id), [paid("2026-12-05", 8000, false)]);
  assertEquals(await warningsOf(books, { period: "this_month" }), []);
  assertEquals((await books.ok("list_expenses")).rows[0].is_estimate, undefined);
});

test("warnings never mention another organization", async (database, books) => {
  const others = await openBooks(database, { day: "2026-12-01" });
  for (const [mode, amount] of [["estimated", "80"], ["variable", undefined]]) {
    const { bill } = await others.ok("add_bill", {
      name: `Their ${mode}`,
      amount,
      amount_mode: mode,
      first_due: "2026-12-05",
      autopay: true,
    });
    await refresh(database, bill.id, "2026-12-20");
  }
  books.goTo("2026-12-20");
  others.goTo("2026-12-20");
  assertEquals([(await warningsOf(others, {})).length, await warningsOf(books, {})], [2, []]);
});

test(
  "an automatic payment without a known amount is neither paid nor overdue until somebody enters the amount",
  async (database, books) => {
    const { bill } = await books.ok("add_bill", {
      name: "Power",
      amount_mode: "variable",
      first_due: "2026-12-05",
      autopay: true,
    });
    for (const day of ["2026-12-20", "2026-12-21"]) {
      books.goTo(day);
      await refresh(database, bill.id, day);
      const shown = await showBill(books, bill.id);
      assertEquals([shown.overdue, await paymentsOf(database, bill.id)], [[], []]);
      assertEquals([shown.awaiting_amount, shown.state], [["2026-12-05"], "amount_missing"]);
    }
    const inState = async (state: string) => (await books.ok("list_bills", { state })).bills.length;
    assertEquals([await inState("amount_missing"), await inState("overdue"), await inState("paid")], [1, 0, 0]);
    assertEquals((await books.ok("review_bills")).counts.overdue, 0);
    assertEquals(await warningsOf(books, { period: "this_month" }), [
      "Power was charged automatically in this period, but the amount is not known yet, so it is in no total.",
    ]);
    for (const other of [{ period: "last_month" }, { period: "this_month", kind: "one_off" }]) {
      assertEquals(await warningsOf(books, other), []);
    }
    const set = await books.call("update_bill", {
      bill_id: bill.id,
      occurrence: { due_on: "2026-12-05", action: "set_amount", amount: "84.20" },
    });
    assertEquals(await paymentsOf(database, bill.id), [paid("2026-12-05", 8420, false)]);
    assertEquals((await showBill(books, bill.id)).awaiting_amount, undefined);
    await books.ok("undo_change", { change_id: set.change_id });
    assertEquals([(await showBill(books, bill.id)).overdue, await paymentsOf(database, bill.id)], [[], []]);
    await books.ok("update_bill", {
      bill_id: bill.id,
      occurrence: { due_on: "2027-01-05", action: "set_amount", amount: "70" },
    });
    // From then on the last amount serves as an estimate.
    books.goTo("2027-02-10");
    await refresh(database, bill.id, "2027-02-10");
    assertEquals(await paymentsOf(database, bill.id), [
      paid("2027-01-05", 7000, false),
      paid("2027-02-05", 7000, true),
    ]);
  },
);

test("an amount in a bill's former currency is not used as an estimate", async (database, books) => {
  const { id } = await addBill(books, {
    name: "Power",
    amount_mode: "variable",
    amount: undefined,
    first_due: "2026-12-05",
    autopay: true,
  });
  await books.ok("mark_bill_paid", { bill_id: id, amount: "80", advance: true });
  await books.ok("update_bill", { bill_id: id, set: { currency: "JPY" } });
  const changed = await showBill(books, id);
  assertEquals([changed.currency, changed.usual_amount, changed.monthly_equivalent], ["JPY", undefined, undefined]);
  assertEquals(await expected(database, books, "2026-12-01", "2027-01-31"), [
    { payee: "Power", due_on: "2027-01-05", expected_minor: null },
  ]);
  books.goTo("2027-01-20");
  await refresh(database, id, "2027-01-20");
  assertEquals((await paymentsOf(database, id)).length, 1);
  assertEquals((await showBill(books, id)).awaiting_amount, ["2027-01-05"]);
  const occurrence = { due_on: "2027-01-05", action: "set_amount", amount: "9000" };
  await books.ok("update_bill", { bill_id: id, occurrence });
  books.goTo("2027-02-20");
  await refresh(database, id, "2027-02-20");
  assertEquals((await paymentsOf(database, id)).slice(1), [
    paid("2027-01-05", 9000, false),
    paid("2027-02-05", 9000, true),
  ]);
  assertEquals((await showBill(books, id)).usual_amount, "9000");
});
