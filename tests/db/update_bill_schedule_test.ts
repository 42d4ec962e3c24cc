/** A new schedule changes open dates from its first day on. */
import { assertEquals } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import type { Json } from "../_support/books.ts";
import { addRent, change, nextDates, overdueOf, show, TODAY } from "./update_bill.ts";

testBooks("a new schedule from update_bill", { day: TODAY }, {
  "reschedules open dates from today on, and is undone": async (books) => {
    const id = await addRent(books);
    const before = await nextDates(books, id);
    const { data, change_id } = await change(books, id, { set: { month_days: [10] } });
    assertEquals([data.bill.next_due, data.bill.schedule_text, data.before.next_due], [
      "2026-12-10",
      "every month on the 10th",
      "2026-12-05",
    ]);
    assertEquals(data.occurrences, [{ due_on: "2026-12-05", status: "removed" }]);
    books.goTo("2027-01-11");
    assertEquals(overdueOf(await show(books, id)), ["2026-12-10", "2027-01-10"]);
    books.goTo(TODAY);
    const undo = await books.call("undo_change", { change_id });
    assertEquals(await nextDates(books, id), before);
    await books.ok("undo_change", { change_id: undo.change_id });
    assertEquals((await nextDates(books, id))[0], "2026-12-10");
  },
  "keeps overdue dates, and dates paid ahead stay paid": async (books) => {
    const id = await addRent(books);
    books.goTo("2026-12-10");
    await books.ok("mark_bill_paid", { bill_id: id, due_on: "2027-01-05" });
    await change(books, id, { set: { month_days: [20] } });
    const bill = await show(books, id);
    assertEquals([overdueOf(bill), bill.next_due], [["2026-12-05"], "2027-02-20"]);
    await change(books, id, { set: { month_days: [1] } });
    assertEquals((await show(books, id)).next_due, "2027-02-01");
  },
  "applies from the given day, even if an earlier date was paid ahead": async (books) => {
    const moved = async (set: Json) => {
      const id = await addRent(books, { first_due: "2026-12-01", on_duplicate: "allow" });
      await books.ok("mark_bill_paid", { advance: true, bill_id: id, amount: "1200" });
      const { data, warnings } = await change(books, id, { set });
      return [data.bill.next_due, warnings.map(({ message }: Json) => message).join()];
    };
    assertEquals(await moved({ frequency: "weekly", first_due: "2026-12-04" }), ["2026-12-04", ""]);
    assertEquals(await moved({ frequency: "weekly", first_due: "2026-12-01" }), [
      "2026-12-08",
      "Rent is next due on 2026-12-08, not on 2026-12-01: everything due until 2026-12-01 is already paid or skipped.",
    ]);
    // December's rent is paid; the new day starts with the next one.
    assertEquals((await moved({ first_due: "2026-11-28" }))[0], "2026-12-28");
    // A past date only anchors the schedule.
    assertEquals(await moved({ first_due: "2026-11-05" }), ["2027-01-05", ""]);
    assertEquals(await moved({ first_due: "2026-12-10", month_days: [3] }), [
      "2027-01-03",
      "Rent is next due on 2027-01-03, not on 2026-12-10: that is not one of the given days of the month.",
    ]);
  },
  "applies from a date on": async (books) => {
    const id = await addRent(books);
    await change(books, id, { set: { month_days: [1] }, apply_from: "2027-02-01" });
    assertEquals((await nextDates(books, id)).slice(0, 4), ["2026-12-05", "2027-01-05", "2027-02-01", "2027-03-01"]);
  },
  "can use another day of the same months": async (books) => {
    const id = await addRent(books, { first_due: "2026-01-20", every: 3 });
    await change(books, id, { set: { month_days: [15] } });
    assertEquals((await nextDates(books, id)).slice(0, 2), ["2027-01-15", "2027-04-15"]);
    await change(books, id, { set: { month_days: [25] } });
    assertEquals((await nextDates(books, id)).slice(0, 2), ["2027-01-25", "2027-04-25"]);
  },
  "can change the frequency from a date on": async (books) => {
    const id = await addRent(books);
    await change(books, id, { set: { every: 3, amount: "3600" }, apply_from: "2027-02-05" });
    assertEquals((await nextDates(books, id)).slice(0, 4), ["2026-12-05", "2027-01-05", "2027-02-05", "2027-05-05"]);
    const loan = await addRent(books, { name: "Loan", first_due: "2026-12-01", ends_after: 6 });
    await change(books, loan, { set: { frequency: "weekly" }, apply_from: "2027-03-01" });
    assertEquals(await nextDates(books, loan), [
      ...["2026-12-01", "2027-01-01", "2027-02-01"],
      ...["2027-03-01", "2027-03-08", "2027-03-15"],
    ]);
  },
  "with another frequency counts from the next date, or from the given day": async (books) => {
    const id = await addRent(books, { ends_after: 24 });
    const { bill } = (await change(books, id, { set: { frequency: "yearly" } })).data;
    assertEquals([bill.next_due, bill.schedule_text], ["2026-12-05", "every year on 5 December, 24 times"]);
    const weekly = await change(books, id, { set: { frequency: "weekly", every: 2, first_due: "2026-11-27" } });
    assertEquals(weekly.data.bill.schedule_text, "every 2 weeks on Friday, 24 times");
    assertEquals((await nextDates(books, id)).slice(0, 2), ["2026-11-27", "2026-12-11"]);
  },
  "keeps the number of remaining dates from any start": async (books) => {
    const id = await addRent(books, { first_due: "2026-12-05", ends_after: 12 });
    for (const due_on of await nextDates(books, id)) await books.ok("mark_bill_paid", { bill_id: id, due_on });
    const moved = await change(books, id, { set: { first_due: "2027-06-20" } });
    assertEquals(moved.data.bill.schedule_text, "every month on the 20th, 6 times");
    const fresh = await addRent(books, { name: "Loan", first_due: "2026-12-05", ends_after: 24 });
    const rarer = await change(books, fresh, { set: { every: 2, first_due: "2027-03-05" } });
    assertEquals(rarer.data.bill.schedule_text, "every 2 months on the 5th, 24 times");
  },
  "keeps the number of remaining dates when a month has more of them": async (books) => {
    const id = await addRent(books, { first_due: "2026-12-05", ends_after: 12 });
    for (const due_on of await nextDates(books, id)) await books.ok("mark_bill_paid", { bill_id: id, due_on });
    await change(books, id, { set: { month_days: [1, 15] } });
    const left = await nextDates(books, id);
    assertEquals(left, [
      ...["2027-06-01", "2027-06-15", "2027-07-01"],
      ...["2027-07-15", "2027-08-01", "2027-08-15"],
    ]);
    books.goTo("2027-08-15");
    for (const due_on of left) await books.ok("mark_bill_paid", { bill_id: id, due_on });
    assertEquals((await show(books, id)).status, "ended");
  },
  "keeps the 31st as the last day": async (books) => {
    books.goTo("2027-02-10");
    const id = await addRent(books, { first_due: "2026-08-31" });
    await change(books, id, { set: { every: 3 } });
    assertEquals((await nextDates(books, id)).slice(0, 3), ["2027-02-28", "2027-05-31", "2027-08-31"]);
  },
  "accepts an end date, and a later one": async (books) => {
    const id = await addRent(books);
    await change(books, id, { set: { ends_on: "2026-12-31" } });
    assertEquals(await nextDates(books, id), ["2026-12-05"]);
    await books.ok("mark_bill_paid", { advance: true, bill_id: id });
    assertEquals((await show(books, id)).status, "ended");
    const { data } = await change(books, id, { set: { ends_on: "2027-12-31" } });
    assertEquals([data.bill.status, data.bill.next_due], ["active", "2027-01-05"]);
    await books.fails("invalid_argument", "update_bill", { bill_id: id, set: { ends_on: "2026-01-01" } });
  },
  "accepts another weekend rule": async (books) => {
    const id = await addRent(books);
    const { bill } = (await change(books, id, { set: { weekend_rule: "before" } })).data;
    assertEquals([bill.next_due, (await nextDates(books, id))[0]], ["2026-12-04", "2026-12-04"]);
  },
});
