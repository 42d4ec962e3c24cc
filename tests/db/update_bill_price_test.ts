/** A new price changes open dates but no paid ones. */
import { assertEquals } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import type { Json } from "../_support/books.ts";
import { addRent, change, show, TODAY } from "./update_bill.ts";

testBooks("a new price from update_bill", { day: TODAY }, {
  "applies from the next open date on; overdue and paid dates keep the old one": async (books) => {
    const id = await addRent(books);
    await books.ok("mark_bill_paid", { advance: true, bill_id: id });
    books.goTo("2027-02-10");
    const { data, change_id } = await change(books, id, { set: { amount: "1300" } });
    assertEquals(data.bill.overdue, [{ due_on: "2027-01-05", amount: "1200.00" }, {
      due_on: "2027-02-05",
      amount: "1200.00",
    }]);
    assertEquals([data.bill.amount, data.bill.next_due, data.before.amount], ["1300.00", "2027-03-05", "1200.00"]);
    assertEquals(data.occurrences, [{ due_on: "2027-03-05", status: "open", amount: "1300.00" }]);
    const { payments, price_changes } = await books.ok("list_bills", { bill_id: id });
    assertEquals(payments.map(({ amount }: Json) => amount), ["1200.00"]);
    assertEquals(price_changes, [{ due_on: "2027-03-05", old: "1200.00", new: "1300.00", change_percent: 8.3 }]);

    books.goTo("2027-03-10");
    await books.ok("mark_bill_paid", { bill_id: id, due_on: "2027-02-05" });
    await books.ok("mark_bill_paid", { bill_id: id, due_on: "2027-01-05" });
    await books.ok("undo_change", { change_id });
    const undone = await show(books, id);
    // The date that came up after the change is reverted as well.
    assertEquals([undone.overdue, undone.amount], [[{ due_on: "2027-03-05", amount: "1200.00" }], "1200.00"]);
  },
  "applies from the given date on": async (books) => {
    const id = await addRent(books);
    const { data, warnings } = await change(books, id, { set: { amount: "1300" }, apply_from: "2027-02-01" });
    assertEquals([data.bill.amount, warnings.map(({ code }: Json) => code)], ["1200.00", ["applies_later"]]);
    const totals = async (days: number) => (await books.ok("list_bills", { due_within_days: days })).totals.due.amount;
    assertEquals([await totals(20), await totals(50), await totals(80)], ["1200.00", "2400.00", "3700.00"]);
    books.goTo("2027-02-06");
    assertEquals((await show(books, id)).overdue.map(({ amount }: Json) => amount), ["1200.00", "1200.00", "1300.00"]);
  },
  "begins on its date even if the due day moves in the meantime": async (books) => {
    const id = await addRent(books);
    await change(books, id, { set: { amount: "1300" }, apply_from: "2027-02-01" });
    books.goTo("2026-11-21");
    const { change_id } = await change(books, id, { set: { month_days: [10] } });
    const totals = async (days: number) => (await books.ok("list_bills", { due_within_days: days })).totals.due.amount;
    assertEquals([await totals(25), await totals(55), await totals(85)], ["1200.00", "2400.00", "3700.00"]);
    await books.ok("undo_change", { change_id });
    assertEquals([await totals(20), await totals(50), await totals(80)], ["1200.00", "2400.00", "3700.00"]);
  },
  "begins earlier than planned when a later call has an earlier day": async (books) => {
    const id = await addRent(books);
    await change(books, id, { set: { amount: "1300" }, apply_from: "2027-03-01" });
    const earlier = await change(books, id, { set: { amount: "1300" }, apply_from: "2027-01-01" });
    assertEquals([earlier.data.bill.amount, earlier.data.bill.next_price.from], ["1200.00", "2027-01-05"]);
    const { data, change_id } = await change(books, id, { set: { amount: "1300" } });
    assertEquals([data.bill.amount, data.bill.next_price], ["1300.00", undefined]);
    await books.ok("undo_change", { change_id });
    assertEquals((await show(books, id)).next_price.from, "2027-01-05");
  },
  "begins later than planned when a later call has a later day": async (books) => {
    const id = await addRent(books);
    await change(books, id, { set: { amount: "1300" }, apply_from: "2027-02-01" });
    const { data, change_id } = await change(books, id, { set: { amount: "1300" }, apply_from: "2027-04-01" });
    assertEquals(data.bill.next_price, { amount: "1300.00", from: "2027-04-05" });
    const totals = async (days: number) => (await books.ok("list_bills", { due_within_days: days })).totals.due.amount;
    assertEquals([await totals(110), await totals(140)], ["4800.00", "6100.00"]);
    await books.ok("undo_change", { change_id });
    assertEquals((await show(books, id)).next_price.from, "2027-02-05");
  },
  "lists the payments that keep their amount when it begins in the past": async (books) => {
    const id = await addRent(books);
    await books.ok("mark_bill_paid", { advance: true, bill_id: id });
    books.goTo("2027-01-10");
    const { warnings } = await change(books, id, { set: { amount: "1300" }, apply_from: "2026-12-01" });
    assertEquals(warnings.map(({ message }: Json) => message), [
      "The payments of Rent for 2026-12-05 keep their amounts. If the bank took the new one, correct each with " +
      "mark_bill_paid, due_on and amount.",
    ]);
  },
  "may include overdue dates": async (books) => {
    const id = await addRent(books);
    books.goTo("2027-01-10");
    const { data } = await change(books, id, { set: { amount: "1300" }, apply_from: "2027-01-01" });
    assertEquals(data.bill.overdue.map(({ amount }: Json) => amount), ["1200.00", "1300.00"]);
  },
  "closes a date that it makes fully paid": async (books) => {
    const id = await addRent(books);
    await books.ok("mark_bill_paid", { advance: true, bill_id: id, amount: "1000" });
    const { data, change_id } = await change(books, id, { set: { amount: "900" } });
    assertEquals(data.occurrences, [{ due_on: "2026-12-05", status: "paid", amount: "1000.00" }]);
    assertEquals([data.bill.next_due, data.bill.amount, data.bill.remaining], ["2027-01-05", "900.00", undefined]);
    await books.ok("undo_change", { change_id });
    const undone = await show(books, id);
    assertEquals([undone.next_due, undone.remaining, undone.amount], ["2026-12-05", "200.00", "1200.00"]);
  },
  "keeps a manually priced date": async (books) => {
    const id = await addRent(books);
    await books.ok("update_bill", {
      bill_id: id,
      occurrence: { action: "set_amount", due_on: "2026-12-05", amount: "600" },
    });
    await change(books, id, { set: { amount: "1300" } });
    books.goTo("2027-01-05");
    const bill = await show(books, id);
    assertEquals([bill.overdue, bill.amount], [[{ due_on: "2026-12-05", amount: "600.00" }], "1300.00"]);
  },
  "in another currency needs an amount, and no open date in the old currency": async (books) => {
    const id = await addRent(books);
    await books.fails("invalid_argument", "update_bill", { bill_id: id, set: { currency: "USD" } });
    const { data, change_id } = await change(books, id, { set: { currency: "USD", amount: "1400" } });
    assertEquals([data.bill.currency, data.bill.amount], ["USD", "1400.00"]);
    await books.ok("undo_change", { change_id });
    assertEquals((await show(books, id)).currency, "EUR");
    await books.ok("mark_bill_paid", { advance: true, bill_id: id, amount: "100" });
    await books.fails("invalid_argument", "update_bill", { bill_id: id, set: { currency: "USD", amount: "1400" } });
  },
  "can become variable, and fixed again": async (books) => {
    const id = await addRent(books);
    const { data } = await change(books, id, { set: { amount_mode: "variable" } });
    assertEquals([data.bill.amount, data.bill.usual_amount, data.bill.state], [undefined, "1200.00", "amount_missing"]);
    const fixed = await change(books, id, { set: { amount_mode: "fixed", amount: "90" } });
    assertEquals([fixed.data.bill.amount, fixed.data.bill.state], ["90.00", "upcoming"]);
  },
});
