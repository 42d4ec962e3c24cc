/** What changing a bill does to its dates: prices, schedules, pauses, single dates; and that payments stay. */
import { assertEquals } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import type { Books, Json } from "../_support/books.ts";

const TODAY = "2026-11-20";

const addRent = async (books: Books, more: Record<string, unknown> = {}): Promise<string> =>
  (await books.ok("add_bill", { name: "Rent", amount: "1200", first_due: "2026-12-05", ...more })).bill.id;
const show = async (books: Books, id: string): Promise<Json> =>
  (await books.ok("list_bills", { bill_id: id })).bills[0];
const nextDates = async (books: Books, id: string): Promise<string[]> =>
  (await books.ok("list_bills", { bill_id: id })).next_dates;
const overdueOf = (bill: Json): string[] => bill.overdue.map((open: Json) => open.due_on);
/** A change that must have the same effect when repeated. */
async function change(books: Books, id: string, args: Record<string, unknown>): Promise<Json> {
  const first = await books.call("update_bill", { bill_id: id, ...args });
  assertEquals(first.ok, true, JSON.stringify(first.error));
  const again = await books.call("update_bill", { bill_id: id, ...args });
  assertEquals(again.ok, true, JSON.stringify(again.error));
  assertEquals([again.change_id, again.data.bill], [undefined, first.data.bill], "made again, it changes nothing");
  return first;
}

testBooks("update_bill of fields", { day: TODAY }, {
  "returns what changed, before and after, and is undone as a whole": async (books) => {
    const id = await addRent(books);
    const before = await show(books, id);
    const { data, change_id } = await change(books, id, {
      set: {
        name: "Flat",
        payee: "Landlord",
        category: "housing",
        tags: ["home"],
        note: "till May",
        my_share_percent: 50,
        autopay: true,
        remind_days_before: 7,
        renews_on: "2027-06-01",
        notice_days: 90,
        trial_ends_on: "2026-12-31",
      },
    });
    const { bill } = data;
    assertEquals([bill.name, bill.payee, bill.category, bill.my_share_percent], ["Flat", "Landlord", "Housing", 50]);
    assertEquals([bill.cancel_by, bill.trial_ends_on, bill.reminder.days_before], ["2027-03-03", "2026-12-31", 7]);
    assertEquals([data.before.name, data.before.autopay, data.before.payee], ["Rent", false, undefined]);
    assertEquals(data.occurrences, []);
    await books.ok("undo_change", { change_id });
    const after = await show(books, id);
    assertEquals(after, { ...before, version: after.version });
  },
  "is described briefly in the list of changes": async (books) => {
    const id = await addRent(books);
    const told = async (args: Json) => {
      await change(books, id, args);
      return (await books.ok("get_context", { include: ["recent_changes"], changes_limit: 1 })).recent_changes[0]
        .summary;
    };
    assertEquals(
      await told({ set: { amount: "1300" }, apply_from: "2027-02-01" }),
      "Changed Rent: amount from 2027-02-01 on",
    );
    assertEquals(
      await told({ set: { renews_on: "2027-06-01", notice_days: 30 } }),
      "Changed Rent: notice days, renews on",
    );
    assertEquals(await told({ set: { notice_days: 60 } }), "Changed Rent: notice days");
    assertEquals(await told({ set: { first_due: "2027-03-05" } }), "Changed Rent: schedule");
    assertEquals(await told({ set: { status: "paused" } }), "Paused Rent");
    assertEquals(await told({ set: { status: "active", name: "Flat" } }), "Resumed Flat; Changed Flat: name");
    assertEquals(await told({ set: { status: "cancelled" } }), "Cancelled Flat");
  },
  "treats empty text as absent": async (books) => {
    const id = await addRent(books, { payee: "Landlord", note: "x", tags: ["a"] });
    const { bill } = (await change(books, id, { set: { payee: "", note: " ", tags: [] } })).data;
    assertEquals([bill.payee, bill.note, bill.tags], [undefined, undefined, undefined]);
    await books.fails("invalid_argument", "update_bill", { bill_id: id, set: { name: " " } });
  },
  "refuses a bill that changed since it was read": async (books) => {
    const id = await addRent(books);
    const { version } = await show(books, id);
    await books.ok("update_bill", { bill_id: id, set: { name: "Flat" }, expected_version: version });
    const error = await books.fails("stale_version", "update_bill", {
      bill_id: id,
      set: { name: "House" },
      expected_version: version,
    });
    assertEquals(error.details.current.name, "Flat");
    await books.fails("stale_version", "update_bill", {
      bill_id: id,
      set: { name: "House" },
      expected_version: 2 ** 31,
    });
  },
  "previews": async (books) => {
    const id = await addRent(books);
    const before = await show(books, id);
    const preview = await books.call("update_bill", { bill_id: id, set: { amount: "1300" }, dry_run: true });
    assertEquals([preview.data.bill.amount, preview.data.before.amount, preview.change_id], [
      "1300.00",
      "1200.00",
      undefined,
    ]);
    assertEquals(await show(books, id), before);
  },
  "says what is missing": async (books) => {
    const id = await addRent(books);
    await books.fails("invalid_argument", "update_bill", { bill_id: id });
    await books.fails("invalid_argument", "update_bill", { bill_id: id, apply_from: "today" });
    await books.fails("invalid_argument", "update_bill", { bill_id: id, set: { notice_days: 30 } });
    await books.fails("category_not_found", "update_bill", { bill_id: id, set: { category: "Hosing" } });
    await books.fails("not_found", "update_bill", { bill_id: "bill_00000000", set: { name: "x" } });
  },
  "warns that a reminder will not be sent": async (books, database) => {
    const id = await addRent(books, { reminder_enabled: false });
    await database.query("update identity.organizations set plan = 'free' where id = $1", [books.organizationId]);
    const { warnings } = await change(books, id, { set: { reminder_enabled: true } });
    assertEquals(warnings.map(({ code }: Json) => code), ["reminders_inactive"]);
  },
});

testBooks("update_bill of a price", { day: TODAY }, {
  "applies from the next open date on; overdue and paid dates keep the old one": async (books) => {
    const id = await addRent(books);
    await books.ok("mark_bill_paid", { bill_id: id });
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
  "may include overdue dates": async (books) => {
    const id = await addRent(books);
    books.goTo("2027-01-10");
    const { data } = await change(books, id, { set: { amount: "1300" }, apply_from: "2027-01-01" });
    assertEquals(data.bill.overdue.map(({ amount }: Json) => amount), ["1200.00", "1300.00"]);
  },
  "closes a date if that much was paid": async (books) => {
    const id = await addRent(books);
    await books.ok("mark_bill_paid", { bill_id: id, amount: "1000" });
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
  "in another currency needs an amount, and nothing open in the old one": async (books) => {
    const id = await addRent(books);
    await books.fails("invalid_argument", "update_bill", { bill_id: id, set: { currency: "USD" } });
    const { data, change_id } = await change(books, id, { set: { currency: "USD", amount: "1400" } });
    assertEquals([data.bill.currency, data.bill.amount], ["USD", "1400.00"]);
    await books.ok("undo_change", { change_id });
    assertEquals((await show(books, id)).currency, "EUR");
    await books.ok("mark_bill_paid", { bill_id: id, amount: "100" });
    await books.fails("invalid_argument", "update_bill", { bill_id: id, set: { currency: "USD", amount: "1400" } });
  },
  "to a variable one, and back": async (books) => {
    const id = await addRent(books);
    const { data } = await change(books, id, { set: { amount_mode: "variable" } });
    assertEquals([data.bill.amount, data.bill.usual_amount, data.bill.state], [undefined, "1200.00", "amount_missing"]);
    const fixed = await change(books, id, { set: { amount_mode: "fixed", amount: "90" } });
    assertEquals([fixed.data.bill.amount, fixed.data.bill.state], ["90.00", "upcoming"]);
  },
});

testBooks("update_bill of a schedule", { day: TODAY }, {
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
  "keeps what is overdue, and what was paid ahead stays paid": async (books) => {
    const id = await addRent(books);
    books.goTo("2026-12-10");
    await books.ok("mark_bill_paid", { bill_id: id, due_on: "2027-01-05" });
    await change(books, id, { set: { month_days: [20] } });
    const bill = await show(books, id);
    assertEquals([overdueOf(bill), bill.next_due], [["2026-12-05"], "2027-02-20"]);
    await change(books, id, { set: { month_days: [1] } });
    assertEquals((await show(books, id)).next_due, "2027-02-01");
  },
  "from the given day, even if an earlier date was paid ahead": async (books) => {
    const moved = async (set: Json) => {
      const id = await addRent(books, { first_due: "2026-12-01", on_duplicate: "allow" });
      await books.ok("mark_bill_paid", { bill_id: id, amount: "1200" });
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
  "from a date on": async (books) => {
    const id = await addRent(books);
    await change(books, id, { set: { month_days: [1] }, apply_from: "2027-02-01" });
    assertEquals((await nextDates(books, id)).slice(0, 4), ["2026-12-05", "2027-01-05", "2027-02-01", "2027-03-01"]);
  },
  "with another frequency counts from the next date, or from the given day": async (books) => {
    const id = await addRent(books, { ends_after: 24 });
    const { bill } = (await change(books, id, { set: { frequency: "yearly" } })).data;
    assertEquals([bill.next_due, bill.schedule_text], ["2026-12-05", "every year on 5 December, 24 times"]);
    const weekly = await change(books, id, { set: { frequency: "weekly", every: 2, first_due: "2026-11-27" } });
    assertEquals(weekly.data.bill.schedule_text, "every 2 weeks on Friday, 24 times");
    assertEquals((await nextDates(books, id)).slice(0, 2), ["2026-11-27", "2026-12-11"]);
  },
  "the 31st stays the last day": async (books) => {
    books.goTo("2027-02-10");
    const id = await addRent(books, { first_due: "2026-08-31" });
    await change(books, id, { set: { every: 3 } });
    assertEquals((await nextDates(books, id)).slice(0, 3), ["2027-02-28", "2027-05-31", "2027-08-31"]);
  },
  "with an end, and a later one": async (books) => {
    const id = await addRent(books);
    await change(books, id, { set: { ends_on: "2026-12-31" } });
    assertEquals(await nextDates(books, id), ["2026-12-05"]);
    await books.ok("mark_bill_paid", { bill_id: id });
    assertEquals((await show(books, id)).status, "ended");
    const { data } = await change(books, id, { set: { ends_on: "2027-12-31" } });
    assertEquals([data.bill.status, data.bill.next_due], ["active", "2027-01-05"]);
    await books.fails("invalid_argument", "update_bill", { bill_id: id, set: { ends_on: "2026-01-01" } });
  },
  "with another weekend rule": async (books) => {
    const id = await addRent(books);
    const { bill } = (await change(books, id, { set: { weekend_rule: "before" } })).data;
    assertEquals([bill.next_due, (await nextDates(books, id))[0]], ["2026-12-04", "2026-12-04"]);
  },
});

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
    await books.ok("mark_bill_paid", { bill_id: id });
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
    await books.ok("mark_bill_paid", { bill_id: id });
    await books.ok("undo_change");
    const { data } = await change(books, id, { set: { month_days: [10] } });
    assertEquals([data.bill.next_due, data.occurrences], ["2026-12-10", [{
      due_on: "2026-12-05",
      status: "skipped",
      amount: "1200.00",
    }, { due_on: "2027-01-05", status: "removed" }]]);
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
    await books.ok("mark_bill_paid", { bill_id: id, due_on: "2027-01-05" });
    await books.fails("overpayment", "mark_bill_paid", { bill_id: await addRent(books), amount: "1300" });
  },
  "reopen of a paid date removes its payment from the books": async (books) => {
    const id = await addRent(books);
    await books.ok("mark_bill_paid", { bill_id: id });
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
    await books.ok("mark_bill_paid", { bill_id: id, amount: "100" });
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

testBooks("update_bill of a provider", { day: TODAY }, {
  "connect returns the URL to open; disconnect ends the link permanently": async (books, database) => {
    const id = await addRent(books, { amount_mode: "variable", amount: undefined });
    const connect = { bill_id: id, provider: { action: "connect", provider: "openai" } };
    const answer = await books.call("update_bill", connect);
    assertEquals([answer.data.connect, answer.change_id], [{ bill: id, provider: "openai" }, undefined]);
    await database.query(
      "insert into app.provider_links (organization_id, expense_id, provider_key, account_label, status) values ($1, $2, 'openai', 'Ac…01', 'active')",
      [books.organizationId, id],
    );
    const member = await books.join();
    await member.fails("forbidden_role", "update_bill", connect);
    const { change_id } = await change(books, id, { provider: { action: "disconnect" } });
    assertEquals((await show(books, id)).provider, undefined);
    const undo = await books.ok("undo_change", { change_id });
    assertEquals([undo.reversed, undo.not_reversible.length], [[], 1]);
    assertEquals((await show(books, id)).provider, undefined);
  },
  "connect needs a variable bill and a plan that includes fetching": async (books, database) => {
    const id = await addRent(books);
    const connect = { bill_id: id, provider: { action: "connect" } };
    await books.fails("invalid_argument", "update_bill", connect);
    await books.ok("update_bill", { ...connect, set: { amount_mode: "variable" } });
    await database.query("update identity.organizations set plan = 'pro' where id = $1", [books.organizationId]);
    const error = await books.fails("feature_not_in_plan", "update_bill", connect);
    assertEquals(error.details.required_plan, "team");
  },
});
