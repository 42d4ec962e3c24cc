/** The stored and open due dates of a bill, before and after it rolls. */
import { assertEquals } from "@std/assert";
import { addBill, expected, overdueOf, refresh, rowsOf, showBill, test, TODAY } from "./occurrence_bills.ts";

test("a new bill has one row, its first due date on or after today", async (database, books) => {
  const bill = await addBill(books, { first_due: "2026-12-01" });
  assertEquals(await rowsOf(database, bill.id), [{ scheduled_on: "2026-12-01", due_on: "2026-12-01", status: "open" }]);
  assertEquals([bill.next_due, bill.days_until, bill.overdue], ["2026-12-01", 11, []]);
});

test("a first due date in the past anchors the schedule and is not tracked", async (database, books) => {
  const bill = await addBill(books, { first_due: "2024-01-31" });
  assertEquals((await rowsOf(database, bill.id)).map((row) => row.due_on), ["2026-11-30"]);
  assertEquals(bill.overdue, []);
  const dueToday = await addBill(books, { first_due: "2026-10-20" });
  assertEquals([dueToday.next_due, dueToday.state], [TODAY, "due"]);
});

test("a date whose scheduled day has passed is tracked if it is not due yet", async (database, books) => {
  books.goTo("2026-11-22"); // a Sunday; the 21st is due on Monday the 23rd, or was on Friday the 20th
  const after = await addBill(books, { month_days: [21], first_due: "2026-10-21", weekend_rule: "after" });
  assertEquals(await rowsOf(database, after.id), [{
    scheduled_on: "2026-11-21",
    due_on: "2026-11-23",
    status: "open",
  }]);
  const before = await addBill(books, { month_days: [21], first_due: "2026-10-21", weekend_rule: "before" });
  assertEquals(before.next_due, "2026-12-21");
});

test(
  "a one-time bill is tracked even if it is past, never rolls, and ends when it is paid",
  async (database, books) => {
    const bill = await addBill(books, { frequency: "once", first_due: "2026-11-01" });
    assertEquals([bill.state, overdueOf(bill), bill.next_due], ["overdue", ["2026-11-01"], undefined]);
    books.goTo("2027-06-01");
    await refresh(database, bill.id, "2027-06-01");
    assertEquals(await rowsOf(database, bill.id), [{
      scheduled_on: "2026-11-01",
      due_on: "2026-11-01",
      status: "open",
    }]);
    await books.ok("mark_bill_paid", { bill_id: bill.id, confirm_days: 212 });
    const paid = await showBill(books, bill.id);
    assertEquals([paid.status, paid.state, paid.overdue, paid.next_due], ["ended", "paid", [], undefined]);
  },
);

test(
  "passed dates stay open and overdue; reading shows them without writing, and a roll writes them",
  async (database, books) => {
    const bill = await addBill(books, { first_due: "2026-11-30" });
    books.goTo("2027-03-31");
    const read = await showBill(books, bill.id);
    assertEquals(overdueOf(read), ["2026-11-30", "2026-12-30", "2027-01-30", "2027-02-28", "2027-03-30"]);
    assertEquals([read.next_due, read.state], ["2027-04-30", "overdue"]);
    assertEquals((await rowsOf(database, bill.id)).length, 1);
    await refresh(database, bill.id, "2027-03-31");
    assertEquals((await rowsOf(database, bill.id)).length, 6);
    assertEquals(await showBill(books, bill.id), read);
    await refresh(database, bill.id, "2027-03-31");
    assertEquals((await rowsOf(database, bill.id)).length, 6);
  },
);

test("rolling does not change the bill: no version, no change set", async (database, books) => {
  const bill = await addBill(books, { first_due: "2026-11-30" });
  const before = await database.query("select count(*) as count from app.change_sets");
  await refresh(database, bill.id, "2027-03-31");
  const [row] = await database.query("select next_due, version from app.expenses where id = $1", [bill.id]);
  assertEquals(row, { next_due: "2027-04-30", version: 1 });
  assertEquals(await database.query("select count(*) as count from app.change_sets"), before);
});

test("a missing row is recreated", async (database, books) => {
  const bill = await addBill(books, { first_due: "2026-11-30" });
  await refresh(database, bill.id, "2027-03-31");
  await database.query("delete from app.expense_occurrences where expense_id = $1 and due_on = '2027-01-30'", [
    bill.id,
  ]);
  await refresh(database, bill.id, "2027-03-31");
  assertEquals((await rowsOf(database, bill.id)).map((row) => row.due_on).at(2), "2027-01-30");
});

test("paused and cancelled bills do not roll and have no open dates", async (database, books) => {
  for (const status of ["paused", "cancelled"]) {
    const bill = await addBill(books, { first_due: "2026-11-30" });
    await books.ok("update_bill", { bill_id: bill.id, set: { status } });
    await refresh(database, bill.id, "2027-03-31");
    books.goTo("2027-03-31");
    assertEquals(await rowsOf(database, bill.id), []);
    const shown = await showBill(books, bill.id);
    assertEquals([shown.status, shown.state, shown.overdue, shown.next_due], [status, undefined, [], undefined]);
    assertEquals(await expected(database, books, "2026-11-01", "2027-12-31"), []);
    books.goTo(TODAY);
  }
});

test("a bill ends when its schedule is over and no date is open", async (database, books) => {
  const bill = await addBill(books, { first_due: "2026-11-30", ends_after: 2 });
  books.goTo("2027-03-01");
  await refresh(database, bill.id, "2027-03-01");
  const over = await showBill(books, bill.id);
  assertEquals([over.status, over.state, overdueOf(over)], ["active", "overdue", ["2026-11-30", "2026-12-30"]]);
  await books.ok("mark_bill_paid", { bill_id: bill.id, due_on: "2026-11-30" });
  assertEquals((await showBill(books, bill.id)).status, "active");
  await books.ok("mark_bill_paid", { bill_id: bill.id, due_on: "2026-12-30" });
  const ended = await showBill(books, bill.id);
  assertEquals([ended.status, ended.state, ended.next_dates], ["ended", "paid", undefined]);
  const [row] = await database.query("select next_due, status from app.expenses where id = $1", [bill.id]);
  assertEquals(row, { next_due: null, status: "ended" });
});
