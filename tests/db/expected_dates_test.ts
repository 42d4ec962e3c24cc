/** Open and upcoming dates: they match the schedule, rolled or not. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import fc from "fast-check";
import { daysAfter } from "../../shared/iso_day.ts";
import type { Books, Json } from "../_support/books.ts";
import type { TestDatabase } from "../_support/database.ts";
import { IS_SHORT } from "../_support/short_form.ts";
import { dueDate, endlessDates, type Schedule } from "./schedule_oracle.ts";
import { addBill, expected, overdueOf, refresh, rowsOf, showBill, test, TODAY } from "./occurrence_bills.ts";

test(
  "expected_in_period() returns open and future dates, except those paid or skipped in advance",
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

test("a partly paid date keeps its currency when the bill changes currency", async (database, books) => {
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
  // Every tool shows it in the same currency.
  const shown = await showBill(books, id);
  assertEquals([shown.amount, shown.remaining, shown.due_currency, shown.currency], ["80.00", "50.00", "EUR", "JPY"]);
  books.goTo("2026-12-28");
  const late = await showBill(books, id);
  assertEquals([late.due_currency, late.overdue], [undefined, [
    { due_on: "2026-11-25", amount: "50.00", currency: "EUR" },
    { due_on: "2026-12-25", amount: "9000" },
  ]]);
  assertEquals(
    (await books.ok("review_bills")).overdue.map(({ due_on, amount, currency }: Json) => [due_on, amount, currency]),
    [["2026-11-25", "50.00", "EUR"], ["2026-12-25", "9000", "JPY"]],
  );
  const dates = await database.asRole(
    "authenticated",
    { sub: books.userId, organization_id: books.organizationId },
    (session) =>
      session.query<{ calendar: Json }>("select app.list_calendar(true, $1) as calendar", [
        `${books.today()}T12:00:00Z`,
      ]),
  );
  assertEquals(
    dates[0]!.calendar.dates.slice(0, 2).map(({ due_on, amount, currency }: Json) => [due_on, amount, currency]),
    [["2026-11-25", "50.00", "EUR"], ["2026-12-25", "9000", "JPY"]],
  );
});

test("chart, summary and list mark the same unknown amounts as estimates", async (_database, books) => {
  const power = await addBill(books, {
    name: "Power",
    amount_mode: "variable",
    amount: undefined,
    first_due: "2026-11-21",
  });
  await books.ok("mark_bill_paid", { bill_id: power.id, amount: "46.44" });
  await addBill(books, { name: "Rent", amount: "100", first_due: "2026-11-28" });
  await addBill(books, { name: "Gas", amount_mode: "estimated", amount: "84", first_due: "2026-12-05" });
  await addBill(books, { name: "Water", amount_mode: "variable", amount: undefined, first_due: "2026-12-06" });
  const estimate = "The expected amounts of Gas and Power, 130.44 EUR in all, are estimates.";
  const [until, days] = ["2026-12-31", 41];
  const messages = ({ warnings }: Json) => warnings.map(({ message }: Json) => message);

  const chart = await books.call("show_spending_chart", { chart: "upcoming_bills", to: until });
  assertEquals([chart.data.total, messages(chart)[0]], [
    { amount: "330.44", currency: "EUR", count: 4, overdue: 0, estimated: "130.44" },
    estimate,
  ]);
  assertEquals(chart.data.unknown_amounts, "Water");
  assertMatch(chart.data.table, /^330\.44 EUR due by 2026-12-31; 130\.44 EUR of it is estimated\./);
  assertMatch(chart.data.table, /Power \| about 46\.44 /);
  assertMatch(chart.data.table, /Rent \| 100\.00 /);

  const summary = await books.call("summarize_spending", { from: TODAY, to: until, include_upcoming: true });
  assertEquals([summary.data.total.upcoming, messages(summary)], ["330.44", [
    estimate,
    "The amounts of Water, which are still upcoming, are not known yet.",
  ]]);
  const food = { from: TODAY, to: until, include_upcoming: true, query: "Rent" };
  assertEquals(messages(await books.call("summarize_spending", food)), [], "of other bills nothing is said");

  const list = await books.call("list_bills", { due_within_days: days });
  assertEquals([list.data.totals.due, messages(list)], [
    { amount: "330.44", currency: "EUR", until, estimated: "130.44" },
    [estimate, "1 due date has no amount yet and is not in the totals."],
  ]);
  assertEquals(list.totals_by_currency, { EUR: "330.44" });
  assertEquals(
    list.data.bills.map(({ name, is_estimate, due_in_window }: Json) => [name, is_estimate, due_in_window.amount]),
    [["Rent", undefined, "200.00"], ["Gas", true, "84.00"], ["Water", undefined, undefined], [
      "Power",
      undefined,
      "46.44",
    ]],
  );
  // A stated amount counts as exact.
  const gas = list.data.bills[1].id;
  await books.ok("update_bill", {
    bill_id: gas,
    occurrence: { due_on: "2026-12-05", action: "set_amount", amount: "90" },
  });
  assertEquals((await showBill(books, gas)).is_estimate, undefined);
  assertEquals((await books.call("list_bills", { due_within_days: days })).data.totals.due.estimated, "46.44");
  books.goTo("2027-01-07");
  assertEquals((await showBill(books, gas)).overdue, [{ due_on: "2026-12-05", amount: "90.00" }, {
    due_on: "2027-01-05",
    amount: "84.00",
    is_estimate: true,
  }]);
  await books.ok("update_bill", { bill_id: gas, occurrence: { due_on: "2026-12-05", action: "skip" } });
  const { overdue } = await books.ok("review_bills");
  assertEquals(
    overdue.find(({ name }: Json) => name === "Gas").text,
    "Gas has been overdue since 2027-01-05: about 84.00 EUR.",
  );
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
      numRuns: IS_SHORT ? 30 : 120,
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
    // The schedule starts on the first of the month days, even if it skips later months.
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

/** Due dates until a day, plus eight more. */
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
        // If inlined, expected_in_period() would read the context once per row.
        `with context as materialized (select app.read_context($1) as context)
         select due_on from context, app.expected_in_period(context.context, null, $2)
         where expense_id = $3 order by due_on`,
        [`${books.today()}T12:00:00Z`, until, id],
      ),
  );
  return rows.map(({ due_on }) => due_on);
}
