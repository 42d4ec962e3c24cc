/** Effects of pausing and ending a bill on its dates, and changes to a single date. */
import { assertEquals } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import type { Books, Json } from "../_support/books.ts";
import { addRent, change, nextDates, overdueOf, show, TODAY } from "./update_bill.ts";

const told = async (books: Books): Promise<string> =>
  (await books.ok("get_context", { include: ["recent_changes"], changes_limit: 1 })).recent_changes[0].summary;

testBooks("update_bill with a status:", { day: TODAY }, {
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
    // A date overdue before the pause stays overdue.
    assertEquals([bill.next_due, overdueOf(bill)], ["2027-05-05", ["2026-12-05"]]);
    assertEquals((await nextDates(books, id))[0], "2027-05-05");
  },
  "a date that was due before a pause stays due everywhere until it is skipped or paid": async (books, database) => {
    for (const status of ["paused", "cancelled"]) {
      const { id } = (await books.ok("add_bill", {
        name: `Gym ${status}`,
        amount: "30",
        frequency: "weekly",
        first_due: "2026-12-02",
      })).bill;
      books.goTo("2026-12-08");
      const { warnings, data, change_id } = await change(books, id, { set: { status } });
      assertEquals(warnings.map(({ code, message }: Json) => [code, message]).slice(0, 1), [[
        "still_open",
        `Gym ${status} is ${status}. 30.00 EUR of Gym ${status} due 2026-12-02 is still open. Ask the user: skip it, or ` +
        'still to be paid? To skip a date, call update_bill with occurrence {"due_on": "2026-12-02", "action": "skip"}; ' +
        'once it is paid, mark_bill_paid with due_on "2026-12-02". Until then it stays due.',
      ]]);
      const open = async () => ({
        state: (await show(books, id)).state,
        listed: (await books.ok("list_bills")).bills.map((bill: Json) => [bill.id, overdueOf(bill)]),
        due: (await books.ok("list_bills")).totals.due.amount,
        reviewed: (await books.ok("review_bills")).overdue.map((found: Json) => [found.bill_id, found.due_on]),
        charted: (await books.ok("show_spending_chart", { chart: "upcoming_bills" })).total.amount,
        expected:
          (await books.ok("summarize_spending", { period: "this_month", include_upcoming: true })).total.upcoming,
      });
      const asked = {
        state: "overdue",
        listed: [[id, ["2026-12-02"]]],
        due: "30.00",
        reviewed: [[id, "2026-12-02"]],
        charted: "30.00",
        expected: "30.00",
      };
      assertEquals([data.bill.state, overdueOf(data.bill)], ["overdue", ["2026-12-02"]]);
      assertEquals(await open(), asked);
      const nothing = { state: undefined, listed: [], due: "0.00", reviewed: [], charted: "0.00" };
      const paid = await books.call("mark_bill_paid", { bill_id: id });
      assertEquals({ ...await open(), expected: undefined }, { ...nothing, expected: undefined });
      await books.ok("undo_change", { change_id: paid.change_id });
      await books.ok("update_bill", { bill_id: id, occurrence: { due_on: "2026-12-02", action: "skip" } });
      assertEquals({ ...await open(), expected: undefined }, { ...nothing, expected: undefined });
      await books.ok("undo_change");
      assertEquals(await open(), asked);
      // Undone and redone, even after further dates have come up.
      const { change_id: undo } = await books.call("undo_change", { change_id });
      books.goTo("2026-12-20");
      await books.ok("update_bill", { bill_id: id, set: { note: "rolls the bill" } });
      assertEquals(overdueOf(await show(books, id)), ["2026-12-02", "2026-12-09", "2026-12-16"]);
      await books.ok("undo_change");
      await books.ok("undo_change", { change_id: undo });
      assertEquals(overdueOf(await show(books, id)), ["2026-12-02"]);
      const resumed = await change(books, id, { set: { status: "active" } });
      assertEquals([resumed.data.bill.next_due, overdueOf(resumed.data.bill), resumed.warnings], [
        "2026-12-23",
        ["2026-12-02"],
        [],
      ]);
      books.goTo("2027-01-05");
      await books.ok("update_bill", { bill_id: id, set: { note: "rolls the bill" } });
      assertEquals(overdueOf(await show(books, id)).length, 3);
      await books.ok("undo_change");
      await books.ok("undo_change", { change_id: resumed.change_id });
      assertEquals(overdueOf(await show(books, id)), ["2026-12-02"]);
      await database.query("update app.expenses set deleted_at = now() where id = $1", [id]);
      books.goTo(TODAY);
    }
  },
  "a partly paid date survives a pause, with a hint for closing it": async (books) => {
    const id = await addRent(books);
    await books.ok("mark_bill_paid", { bill_id: id, amount: "200", advance: true });
    const { warnings, data } = await change(books, id, { set: { status: "paused" } });
    assertEquals([data.bill.next_due, data.bill.remaining], ["2026-12-05", "1000.00"]);
    assertEquals(
      warnings[0].message.split(" Ask ")[0],
      "Rent is paused. 1000.00 EUR of Rent due 2026-12-05 is still open.",
    );
    assertEquals(warnings[0].message.includes('"action": "set_amount", "amount": "200.00"'), true);
    await books.ok("update_bill", {
      bill_id: id,
      occurrence: { due_on: "2026-12-05", action: "set_amount", amount: "200" },
    });
    assertEquals((await books.ok("list_bills")).bills, []);
  },
  "asks about several open dates at once": async (books) => {
    const { id } = (await books.ok("add_bill", {
      name: "Rolls",
      amount: "2",
      frequency: "daily",
      first_due: TODAY,
    })).bill;
    books.goTo("2026-12-10");
    const { warnings } = await change(books, id, { set: { status: "cancelled" } });
    assertEquals(
      warnings[0].message.startsWith(
        "Rolls is cancelled. 20 due dates of Rolls are still open: 2026-11-20 (2.00 EUR), ",
      ),
      true,
    );
    assertEquals(warnings[0].message.includes("2026-12-01 (2.00 EUR) and 8 more. Ask the user: skip them"), true);
  },
  "a pause keeps a price that begins later": async (books, database) => {
    const id = await addRent(books);
    await books.ok("update_bill", { bill_id: id, set: { amount: "1300" }, apply_from: "2027-03-01" });
    const { change_id, data } = await change(books, id, { set: { status: "paused" } });
    assertEquals([data.bill.amount, data.bill.next_price], ["1200.00", { amount: "1300.00", from: "2027-03-05" }]);
    books.goTo("2026-12-15");
    const resumed = await change(books, id, { set: { status: "active" } });
    const prices = async () =>
      await database.query(
        "select due_on, expected_minor::int as minor from app.expense_occurrences where expense_id = $1 order by 1",
        [id],
      );
    assertEquals(await prices(), [{ due_on: "2027-01-05", minor: 120000 }, {
      due_on: "2027-02-05",
      minor: 120000,
    }]);
    assertEquals((await show(books, id)).next_price, { amount: "1300.00", from: "2027-03-05" });
    await books.ok("undo_change", { change_id: resumed.change_id });
    assertEquals((await show(books, id)).next_price, { amount: "1300.00", from: "2027-03-05" });
    await books.ok("undo_change", { change_id });
    books.goTo("2027-03-10");
    assertEquals((await show(books, id)).amount, "1300.00");
    const expected = async () =>
      (await books.ok("list_bills", { bill_id: id })).bills[0].overdue.map((open: Json) => [open.due_on, open.amount]);
    assertEquals((await expected()).at(-1), ["2027-03-05", "1300.00"]);
  },
  "a price set during a pause begins on its date": async (books) => {
    const id = await addRent(books);
    await books.ok("update_bill", { bill_id: id, set: { status: "paused" } });
    const { warnings, data } = await change(books, id, { set: { amount: "1300" }, apply_from: "2027-02-20" });
    assertEquals([data.bill.amount, data.bill.next_price.amount], ["1200.00", "1300.00"]);
    assertEquals(
      warnings[0].message,
      "The new amount of Rent applies to due dates from 2027-02-20 on; until then it stays 1200.00 EUR.",
    );
    books.goTo("2027-01-10");
    const { bill } = (await change(books, id, { set: { status: "active" } })).data;
    assertEquals([bill.next_due, bill.amount, bill.next_price], ["2027-02-05", "1200.00", {
      amount: "1300.00",
      from: "2027-03-05",
    }]);
    // Once the phase has begun, the earlier price is gone.
    await books.ok("update_bill", { bill_id: id, set: { status: "paused" } });
    books.goTo("2027-03-10");
    const later = (await change(books, id, { set: { status: "active" } })).data.bill;
    assertEquals([later.next_due, later.amount, later.next_price], ["2027-04-05", "1300.00", undefined]);
  },
  "a cancelled bill keeps its payments and has no expected dates": async (books) => {
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
  "a date that refers to an undone payment does not block the change": async (books) => {
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
  "a pause keeps dates with undone payments": async (books) => {
    const id = await addRent(books);
    await books.ok("mark_bill_paid", { advance: true, bill_id: id });
    const undone = await books.call("undo_change");
    const { change_id } = await change(books, id, { set: { status: "paused" } });
    assertEquals((await change(books, id, { set: { status: "active" } })).data.bill.next_due, "2026-12-05");
    // The payment was for a date that no longer exists.
    await books.fails("undo_conflict", "undo_change", { change_id: undone.change_id });
    await books.ok("undo_change");
    await books.ok("undo_change", { change_id });
    assertEquals((await show(books, id)).next_due, "2026-12-05");
    await books.ok("undo_change", { change_id: undone.change_id });
    assertEquals((await show(books, id)).next_due, "2027-01-05");
  },
});

testBooks("update_bill with one date:", { day: TODAY }, {
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
  "snooze: delays the reminder and moves no date": async (books) => {
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
  "set_amount: changes one date, even far ahead, and of a variable bill too": async (books) => {
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
  "reopen: a paid date loses its payment": async (books) => {
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
  "a paid or partly paid date cannot be skipped": async (books) => {
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
  "a bill paused until a day counts as paused until then, and a later call replaces the pause": async (books) => {
    const id = await addRent(books);
    const other = await addRent(books, { name: "Water", amount: "10" });
    const { data, warnings } = await change(books, id, { pause_until: "2027-03-01" });
    const { status, paused_until, state, next_due, monthly_equivalent } = data.bill;
    assertEquals([status, paused_until, state, next_due, monthly_equivalent], [
      "paused",
      "2027-03-01",
      undefined,
      "2027-03-05",
      undefined,
    ]);
    assertEquals([data.before.status, data.before.next_due], ["active", "2026-12-05"]);
    assertEquals(warnings.map(({ code }: Json) => code), ["paused_until"]);
    assertEquals(await told(books), "Paused Rent until 2027-03-01");
    const listed = async (args: Json) =>
      (await books.ok("list_bills", args)).bills.map((bill: Json) => [bill.name, bill.status]);
    assertEquals(await listed({ status: "paused" }), [["Rent", "paused"]]);
    assertEquals((await books.ok("list_bills")).totals.monthly.amount, "10.00");
    assertEquals((await books.ok("list_bills", { due_within_days: 120 })).totals.due.amount, "1240.00");

    const shorter = await change(books, id, { pause_until: "2027-01-01" });
    assertEquals([shorter.data.bill.paused_until, await nextDates(books, id)], [
      "2027-01-01",
      (await nextDates(books, other)).slice(1).concat((await nextDates(books, id)).slice(-1)),
    ]);
    const longer = await change(books, id, { set: { status: "paused" }, pause_until: "2027-02-01" });
    assertEquals([longer.data.bill.next_due, longer.data.bill.paused_until], ["2027-02-05", "2027-02-01"]);
    await books.ok("undo_change", { change_id: longer.change_id });
    assertEquals((await show(books, id)).next_due, "2027-01-05");
    const resumed = await change(books, id, { set: { status: "active" } });
    assertEquals([await told(books), resumed.warnings, resumed.data.bill.status, resumed.data.bill.next_due], [
      "Resumed Rent",
      [],
      "active",
      "2026-12-05",
    ]);
    await books.ok("undo_change", { change_id: resumed.change_id });
    assertEquals([(await show(books, id)).next_due, await listed({ status: "paused" })], [
      "2027-01-05",
      [["Rent", "paused"]],
    ]);
    books.goTo("2027-01-06");
    const { bill } = (await change(books, id, { set: { note: "back" } })).data;
    assertEquals([bill.status, bill.paused_until, overdueOf(bill)], ["active", undefined, ["2027-01-05"]]);
  },
  "a pause keeps overdue, skipped and prepaid dates, and a day resumes a bill that was paused without one": async (
    books,
  ) => {
    const id = await addRent(books);
    await books.ok("mark_bill_paid", { bill_id: id, due_on: "2027-01-05", advance: true });
    await books.ok("update_bill", { bill_id: id, occurrence: { due_on: "2027-03-05", action: "skip" } });
    books.goTo("2026-12-10");
    await change(books, id, { set: { status: "paused" } });
    const { data, warnings } = await change(books, id, { pause_until: "2027-02-20" });
    assertEquals([overdueOf(data.bill), data.bill.next_due], [["2026-12-05"], "2027-04-05"]);
    assertEquals(
      warnings.find(({ code }: Json) => code === "still_skipped").message,
      "2027-03-05 of Rent was skipped before and stays skipped. To bring a date back, call update_bill with " +
        'occurrence {"due_on": "2027-03-05", "action": "reopen"}.',
    );
    assertEquals((await books.ok("list_expenses")).rows.length, 1);
  },
  "a pause keeps a price that begins later and a schedule that changes in the meantime": async (books) => {
    const id = await addRent(books);
    await books.ok("update_bill", { bill_id: id, set: { amount: "1300" }, apply_from: "2027-03-01" });
    await change(books, id, { pause_until: "2027-02-01" });
    const amounts = async () => [(await show(books, id)).amount, (await show(books, id)).next_price];
    assertEquals(await amounts(), ["1200.00", { amount: "1300.00", from: "2027-03-05" }]);
    await change(books, id, { set: { status: "active" } });
    assertEquals(await amounts(), ["1200.00", { amount: "1300.00", from: "2027-03-05" }]);
    await change(books, id, { pause_until: "2027-02-01" });
    const { bill } = (await change(books, id, { set: { month_days: [20] } })).data;
    assertEquals([bill.next_due, bill.status], ["2027-02-20", "paused"]);
  },
  "a bill cannot pause until today, or at all if it has one date, is cancelled or has ended": async (books) => {
    const id = await addRent(books);
    await books.fails("date_out_of_range", "update_bill", { bill_id: id, pause_until: TODAY });
    const once = await addRent(books, { name: "Plumber", frequency: "once" });
    const { hint } = await books.fails("invalid_argument", "update_bill", { bill_id: once, pause_until: "2027-03-01" });
    assertEquals(
      hint,
      'Give occurrence {"due_on": "2026-12-05", "action": "skip"}, or "snooze" with snooze_until.',
    );
    await books.ok("update_bill", { bill_id: id, set: { status: "cancelled" } });
    await books.fails("invalid_argument", "update_bill", { bill_id: id, pause_until: "2027-03-01" });
  },
});
