/** What pausing and ending a bill does to its dates, and what can be done to a single one. */
import { assertEquals } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import type { Json } from "../_support/books.ts";
import { addRent, change, nextDates, overdueOf, show, TODAY } from "./update_bill.ts";

testBooks("update_bill of a status", { day: TODAY }, {
  "dates within a pause are not overdue afterwards": async (books) => {
    const id = await addRent(books);
    books.goTo("2026-12-10");
    const paused = await change(books, id, { set: { status: "paused" } });
    assertEquals([paused.data.bill.status, paused.data.bill.next_due, paused.data.before.status], [
      "paused",
      undefined,
      "active",
    ]);
    books.goTo("2027-04-20");
    const { bill } = (await change(books, id, { set: { status: "active" } })).data;
    // What was overdue before the pause still is.
    assertEquals([bill.next_due, overdueOf(bill)], ["2027-05-05", ["2026-12-05"]]);
    assertEquals((await nextDates(books, id))[0], "2027-05-05");
  },
  "a cancelled bill keeps its payments and expects nothing": async (books) => {
    const id = await addRent(books);
    await books.ok("mark_bill_paid", { advance: true, bill_id: id });
    const { data, change_id } = await change(books, id, { set: { status: "cancelled" } });
    assertEquals([data.bill.status, data.bill.next_due, data.occurrences], ["cancelled", undefined, [{
      due_on: "2027-01-05",
      status: "removed",
    }]]);
    assertEquals((await books.ok("list_bills", { bill_id: id })).payments.length, 1);
    assertEquals((await books.ok("list_bills")).bills, []);
    await books.ok("undo_change", { change_id });
    assertEquals((await show(books, id)).next_due, "2027-01-05");
  },
  "a date that refers to an undone payment is no obstacle": async (books) => {
    const id = await addRent(books);
    await books.ok("mark_bill_paid", { advance: true, bill_id: id });
    await books.ok("undo_change");
    const { data } = await change(books, id, { set: { month_days: [10] } });
    assertEquals([data.bill.next_due, data.occurrences], ["2026-12-10", [{
      due_on: "2026-12-05",
      status: "removed",
    }, { due_on: "2027-01-05", status: "removed" }]]);
    assertEquals((await change(books, id, { set: { month_days: [5] } })).data.bill.next_due, "2026-12-05");
  },
  "a pause costs no date that a payment was taken back of": async (books) => {
    const id = await addRent(books);
    await books.ok("mark_bill_paid", { advance: true, bill_id: id });
    const undone = await books.call("undo_change");
    const { change_id } = await change(books, id, { set: { status: "paused" } });
    assertEquals((await change(books, id, { set: { status: "active" } })).data.bill.next_due, "2026-12-05");
    // The payment was for a date that has gone since.
    await books.fails("undo_conflict", "undo_change", { change_id: undone.change_id });
    await books.ok("undo_change");
    await books.ok("undo_change", { change_id });
    assertEquals((await show(books, id)).next_due, "2026-12-05");
    await books.ok("undo_change", { change_id: undone.change_id });
    assertEquals((await show(books, id)).next_due, "2027-01-05");
  },
});

testBooks("update_bill of one date", { day: TODAY }, {
  "skip: the bill moves on, and reopen brings it back": async (books) => {
    const id = await addRent(books);
    const on = (action: string, more = {}) => ({ occurrence: { action, due_on: "2026-12-05", ...more } });
    const { data } = await change(books, id, on("skip"));
    assertEquals([data.bill.next_due, data.occurrences], ["2027-01-05", [{
      due_on: "2026-12-05",
      status: "skipped",
      amount: "1200.00",
    }]]);
    await books.fails("invalid_argument", "update_bill", { bill_id: id, ...on("set_amount", { amount: "1" }) });
    assertEquals((await change(books, id, on("reopen"))).data.bill.next_due, "2026-12-05");
  },
  "snooze delays the reminder and moves no date": async (books) => {
    const id = await addRent(books);
    const before = await show(books, id);
    const { data, warnings } = await change(books, id, {
      occurrence: { action: "snooze", due_on: "2026-12-05", snooze_until: "2026-12-04" },
    });
    assertEquals(data.bill, { ...before, snoozed_until: "2026-12-04" });
    assertEquals(data.occurrences[0].snoozed_until, "2026-12-04");
    assertEquals(warnings.map(({ code }: Json) => code), ["snoozed"]);
    await books.fails("date_out_of_range", "update_bill", {
      bill_id: id,
      occurrence: { action: "snooze", due_on: "2026-12-05", snooze_until: "today" },
    });
  },
  "set_amount: one date, even far ahead, also of a variable bill": async (books) => {
    const id = await addRent(books, { amount_mode: "variable", amount: undefined });
    const { data } = await change(books, id, {
      occurrence: { action: "set_amount", due_on: "2027-01-05", amount: "84.20" },
    });
    assertEquals(data.occurrences, [{ due_on: "2027-01-05", status: "open", amount: "84.20" }]);
    assertEquals([data.bill.state, data.bill.next_due], ["amount_missing", "2026-12-05"]);
    await books.ok("mark_bill_paid", { advance: true, bill_id: id, due_on: "2027-01-05" });
    await books.fails("overpayment", "mark_bill_paid", {
      advance: true,
      bill_id: await addRent(books),
      amount: "1300",
    });
  },
  "reopen of a paid date removes its payment from the books": async (books) => {
    const id = await addRent(books);
    await books.ok("mark_bill_paid", { advance: true, bill_id: id });
    const { data, warnings, change_id } = await change(books, id, {
      occurrence: { action: "reopen", due_on: "2026-12-05" },
    });
    assertEquals([data.bill.next_due, warnings[0].code], ["2026-12-05", "payments_removed"]);
    assertEquals((await books.ok("list_expenses")).rows, []);
    await books.ok("undo_change", { change_id });
    assertEquals([(await books.ok("list_expenses")).rows.length, (await show(books, id)).next_due], [1, "2027-01-05"]);
  },
  "what is paid or partly paid cannot be skipped": async (books) => {
    const id = await addRent(books);
    const skip = { bill_id: id, occurrence: { action: "skip", due_on: "2026-12-05" } };
    await books.ok("mark_bill_paid", { advance: true, bill_id: id, amount: "100" });
    await books.fails("invalid_argument", "update_bill", skip);
    const { data } = await change(books, id, {
      occurrence: { action: "set_amount", due_on: "2026-12-05", amount: "500" },
    });
    assertEquals(data.bill.remaining, "400.00");
    await books.ok("mark_bill_paid", { bill_id: id, due_on: "2026-12-05" });
    assertEquals((await books.fails("already_paid", "update_bill", skip)).field, "occurrence.due_on");
    const { field, hint } = await books.fails("invalid_argument", "update_bill", {
      bill_id: id,
      occurrence: { action: "skip", due_on: "2026-12-06" },
    });
    assertEquals([field, hint], ["occurrence.due_on", "Give one of its open dates: 2027-01-05."]);
  },
});
