/** Dates that are open or still to come: as the schedule says, rolled or not. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { daysAfter } from "../../shared/iso_day.ts";
import type { Books } from "../_support/books.ts";
import type { TestDatabase } from "../_support/database.ts";
import { dueDate, endlessDates, type Schedule } from "./schedule_oracle.ts";
import { addBill, expected, overdueOf, refresh, rowsOf, test, TODAY } from "./occurrence_bills.ts";

test(
  "expected_in_period() has open and future dates, without those paid or skipped in advance",
  async (database, books) => {
    const rent = await addBill(books, { name: "Rent", payee: "Landlord", amount: "1000", first_due: "2026-11-30" });
    const gym = await addBill(books, { name: "Gym", frequency: "weekly", first_due: "2026-12-04" });
    await books.ok("mark_bill_paid", { bill_id: rent.id, due_on: "2026-12-30" });
    await books.ok("mark_bill_paid", { bill_id: rent.id, due_on: "2026-11-30", amount: "400" });
    await database.query(
      "update app.expense_occurrences set status = 'skipped', closed_at = now() where expense_id = $1",
      [gym.id],
    );
    await refresh(database, gym.id, TODAY);
    assertEquals(
      await expected(database, books, "2026-11-20", "2027-01-31"),
      [
        { payee: "Landlord", due_on: "2026-11-30", expected_minor: 60000 },
        ...[
          "2026-12-11",
          "2026-12-18",
          "2026-12-25",
          "2027-01-01",
          "2027-01-08",
          "2027-01-15",
          "2027-01-22",
          "2027-01-29",
        ]
          .map((due_on) => ({ payee: "Gym", due_on, expected_minor: 1000 })),
        { payee: "Landlord", due_on: "2027-01-30", expected_minor: 100000 },
      ].toSorted((a, b) => a.due_on < b.due_on ? -1 : 1),
    );
    books.goTo("2027-02-10");
    assertEquals(
      (await expected(database, books, "2026-01-01", "2027-02-28")).filter(({ payee }) => payee === "Landlord"),
      [
        { payee: "Landlord", due_on: "2026-11-30", expected_minor: 60000 },
        { payee: "Landlord", due_on: "2027-01-30", expected_minor: 100000 },
        { payee: "Landlord", due_on: "2027-02-28", expected_minor: 100000 },
      ],
    );
  },
);

test("expected_in_period() counts a variable bill at its usual amount", async (database, books) => {
  await addBill(books, { name: "Power", amount_mode: "variable", amount: undefined, first_due: "2026-12-01" });
  assertEquals(await expected(database, books, TODAY, "2026-12-31"), [{
    payee: "Power",
    due_on: "2026-12-01",
    expected_minor: null,
  }]);
  await books.ok("mark_bill_paid", { advance: true, bill_name: "Power", amount: "84.20" });
  assertEquals(await expected(database, books, TODAY, "2027-01-31"), [{
    payee: "Power",
    due_on: "2027-01-01",
    expected_minor: 8420,
  }]);
});

test("what is paid in part is due in its own currency, whatever the bill has by now", async (_database, books) => {
  const { id } = await addBill(books, { name: "Rent", amount: "80", first_due: "2026-11-25" });
  await books.ok("mark_bill_paid", { bill_id: id, amount: "30", advance: true });
  const { change_id } = await books.call("mark_bill_paid", { bill_id: id, due_on: "2026-11-25" });
  await books.ok("update_bill", { bill_id: id, set: { currency: "JPY", amount: "9000" } });
  await books.ok("undo_change", { change_id });
  const month = await books.call("list_bills");
  assertEquals([month.totals_by_currency, month.data.totals.due.amount], [{ EUR: "50.00" }, "50.00"]);
  const { totals_by_currency, total_count } = await books.call("list_bills", { due_within_days: 60 });
  assertEquals([totals_by_currency, total_count], [{ EUR: "50.00", JPY: "9000" }, 1]);
  const chart = await books.ok("show_spending_chart", { chart: "upcoming_bills", to: "2026-12-31" });
  assertEquals([chart.total.amount, chart.unconverted], [
    "50.00",
    [{ currency: "JPY", amount: "9000", count: 1 }],
  ]);
});

const schedules = fc.record({
  frequency: fc.constantFrom<Schedule["frequency"]>("once", "daily", "weekly", "monthly", "monthly", "yearly"),
  every: fc.integer({ min: 1, max: 3 }),
  first: fc.integer({ min: -400, max: 60 }),
  month_days: fc.option(fc.uniqueArray(fc.constantFrom(1, 5, 15, 28, 29, 30, -1), { minLength: 1, maxLength: 3 })),
  month_weekdays: fc.option(
    fc.uniqueArray(fc.constantFrom<[number, number]>([1, 1], [2, 2], [3, 7], [-1, 5]), { minLength: 1, maxLength: 3 }),
    { freq: 2 },
  ),
  weekend_rule: fc.constantFrom<Schedule["weekend_rule"]>("none", "before", "after"),
  ends_after: fc.option(fc.integer({ min: 1, max: 40 }), { freq: 1 }),
  autopay: fc.boolean(),
  later: fc.integer({ min: 0, max: 300 }),
});

test("open dates match a walk through the calendar, before and after a roll", async (database, books) => {
  for (
    const { first, later, autopay, month_days, month_weekdays, ends_after, ...rest } of fc.sample(schedules, {
      numRuns: 120,
      seed: 8,
    })
  ) {
    const isMonthly = rest.frequency === "monthly";
    const rule: Schedule = {
      ...rest,
      every: rest.frequency === "once" ? 1 : rest.every,
      anchor_on: daysAfter(TODAY, first),
      month_days: isMonthly && !month_weekdays ? month_days : null,
      month_weekdays: isMonthly ? month_weekdays : null,
      ends_on: null,
      ends_after: rest.frequency === "once" ? 1 : ends_after,
    };
    const reason = JSON.stringify({ rule, autopay, later });
    books.goTo(TODAY);
    const added = await books.call("add_bill", {
      name: "Bill",
      amount: "10",
      on_duplicate: "allow",
      autopay,
      first_due: rule.anchor_on,
      frequency: rule.frequency,
      every: rule.every,
      weekend_rule: rule.weekend_rule,
      ...(rule.month_days && { month_days: rule.month_days }),
      ...(rule.month_weekdays && {
        month_weekdays: rule.month_weekdays.map(([which, day]) =>
          `${which}${["MO", "TU", "WE", "TH", "FR", "SA", "SU"][day - 1]}`
        ),
      }),
      ...(ends_after && { ends_after }),
    });
    // The schedule starts on the first of the month days, whatever months are skipped after that.
    const anchored = { ...rule, anchor_on: endlessDates({ ...rule, every: 1 }).next().value! };
    const today = daysAfter(TODAY, later);
    const dues = dueDates(anchored, daysAfter(today, 210)).filter((due) => rule.frequency === "once" || due >= TODAY);
    if (dues.length === 0) {
      assertEquals(added.error?.code, "invalid_argument", reason);
      continue;
    }
    const { id } = added.data.bill;
    books.goTo(today);
    const read = await books.ok("list_bills", { bill_id: id });
    const passed = dues.filter((due) => due < today);
    const coming = dues.filter((due) => due >= today);
    const unpaid = autopay ? [] : passed;
    assertEquals(overdueOf(read.bills[0]), unpaid.slice(0, 24), reason);
    assertEquals(read.bills[0].overdue_count, unpaid.length > 24 ? unpaid.length : undefined, reason);
    assertEquals(read.bills[0].next_due, coming[0], reason);
    assertEquals(read.next_dates, coming.slice(0, 6), reason);
    const until = daysAfter(today, 200);
    const wanted = [...unpaid, ...coming.filter((due) => due <= until)];
    assertEquals(await expectedDates(database, books, id, until), wanted, reason);

    await refresh(database, id, today);
    const rolled = await books.ok("list_bills", { bill_id: id });
    assertEquals(overdueOf(rolled.bills[0]), unpaid.slice(0, 24), reason);
    assertEquals([rolled.bills[0].next_due, rolled.next_dates], [coming[0], coming.slice(0, 6)], reason);
    assertEquals(await expectedDates(database, books, id, until), wanted, reason);
    const rows = await rowsOf(database, id);
    assertEquals(rows.map((row) => row.due_on), [...passed, ...coming.slice(0, 1)], reason);
    assert(rows.every((row) => row.status === "open" || autopay), reason);
    await database.query("update app.expenses set deleted_at = now() where id = $1", [id]);
  }
});

/** Due dates through a day, plus eight more. */
function dueDates(schedule: Schedule, through: string): string[] {
  const dates: string[] = [];
  for (const date of endlessDates(schedule)) {
    if (dates.length === schedule.ends_after || (dates.at(-8) ?? "") > through) break;
    dates.push(dueDate(date, schedule.weekend_rule));
  }
  return dates;
}

async function expectedDates(database: TestDatabase, books: Books, id: string, until: string): Promise<string[]> {
  const rows = await database.asRole(
    "authenticated",
    { sub: books.userId, organization_id: books.organizationId },
    (session) =>
      session.query<{ due_on: string }>(
        "select due_on from app.expected_in_period(app.read_context($1), null, $2) where expense_id = $3 order by due_on",
        [`${books.today()}T12:00:00Z`, until, id],
      ),
  );
  return rows.map(({ due_on }) => due_on);
}
