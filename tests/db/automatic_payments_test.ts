/** Automatic payments: which are recorded when a bill rolls, and which are left to a person. */
import { assertEquals } from "@std/assert";
import { addBill, overdueOf, refresh, showBill, test, TODAY } from "./occurrence_bills.ts";

test(
  "automatic payments of a fixed amount are recorded on their due dates when the bill rolls",
  async (database, books) => {
    const bill = await addBill(books, { name: "Netflix", amount: "15.99", first_due: "2026-12-05", autopay: true });
    books.goTo("2027-02-05");
    const read = await showBill(books, bill.id);
    // The one due today has not passed.
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

test("automatic payments of variable amounts are left to a person", async (database, books) => {
  for (const amounts of [{ amount_mode: "estimated", amount: "80" }, { amount_mode: "variable", amount: undefined }]) {
    const bill = await addBill(books, { first_due: "2026-12-05", autopay: true, ...amounts });
    books.goTo("2026-12-06");
    await refresh(database, bill.id, "2026-12-06");
    assertEquals(overdueOf(await showBill(books, bill.id)), ["2026-12-05"]);
    books.goTo(TODAY);
  }
});
