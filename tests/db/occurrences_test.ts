/** Which due dates of a bill are open: as the schedule says, rolled or not. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { type Books, type Json, openBooks } from "../_support/books.ts";
import { openDatabase, type TestDatabase } from "../_support/database.ts";
import { dueDate, endlessDates, type Schedule } from "./schedule_oracle.ts";

const TODAY = "2026-11-20";
const addDays = (date: string, days: number) =>
  new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10);

function test(name: string, work: (database: TestDatabase, books: Books) => Promise<void>): void {
  Deno.test(name, async () => {
    const database = await openDatabase();
    try {
      await work(database, await openBooks(database, { day: TODAY }));
    } finally {
      await database.close();
    }
  });
}

const addBill = async (books: Books, args: Record<string, unknown>): Promise<Json> =>
  (await books.ok("add_bill", { name: "Bill", amount: "10", on_duplicate: "allow", ...args })).bill;
const showBill = async (books: Books, id: string): Promise<Json> =>
  (await books.ok("list_bills", { bill_id: id })).bills[0];
const rowsOf = (database: TestDatabase, id: string) =>
  database.query<{ scheduled_on: string; due_on: string; status: string }>(
    "select scheduled_on, due_on, status from app.expense_occurrences where expense_id = $1 order by scheduled_on",
    [id],
  );
const refresh = (database: TestDatabase, id: string, day: string) =>
  database.query("select app.refresh_bill($1, $2)", [id, day]);
const overdueOf = (bill: Json): string[] => bill.overdue.map((open: Json) => open.due_on);

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

test("a date whose scheduled day has passed is tracked while it is not due yet", async (database, books) => {
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
  "a one-time bill is tracked even from the past, never rolls, and ends when it is paid",
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
    await books.ok("mark_bill_paid", { bill_id: bill.id });
    const paid = await showBill(books, bill.id);
    assertEquals([paid.status, paid.state, paid.overdue, paid.next_due], ["ended", "paid", [], undefined]);
  },
);

test(
  "passed dates stay open and overdue; reading shows them without writing, a roll writes them",
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
    await database.query("update app.expenses set status = $2, next_due = null where id = $1", [bill.id, status]);
    await refresh(database, bill.id, "2027-03-31");
    books.goTo("2027-03-31");
    assertEquals((await rowsOf(database, bill.id)).length, 1);
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
  await books.ok("mark_bill_paid", { bill_name: "Power", amount: "84.20" });
  assertEquals(await expected(database, books, TODAY, "2027-01-31"), [{
    payee: "Power",
    due_on: "2027-01-01",
    expected_minor: 8420,
  }]);
});

const schedules = fc.record({
  frequency: fc.constantFrom<Schedule["frequency"]>("once", "daily", "weekly", "monthly", "monthly", "yearly"),
  every: fc.integer({ min: 1, max: 3 }),
  first: fc.integer({ min: -400, max: 60 }),
  month_days: fc.option(fc.uniqueArray(fc.constantFrom(1, 5, 15, 28, 29, 30, -1), { minLength: 1, maxLength: 3 })),
  weekend_rule: fc.constantFrom<Schedule["weekend_rule"]>("none", "before", "after"),
  ends_after: fc.option(fc.integer({ min: 1, max: 40 }), { freq: 1 }),
  autopay: fc.boolean(),
  later: fc.integer({ min: 0, max: 300 }),
});

test("open dates match a walk through the calendar, before and after a roll", async (database, books) => {
  for (
    const { first, later, autopay, month_days, ends_after, ...rest } of fc.sample(schedules, { numRuns: 120, seed: 8 })
  ) {
    const rule: Schedule = {
      ...rest,
      every: rest.frequency === "once" ? 1 : rest.every,
      anchor_on: addDays(TODAY, first),
      month_days: rest.frequency === "monthly" ? month_days : null,
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
      ...(ends_after && { ends_after }),
    });
    // The schedule starts on the first of the month days, whatever months are skipped after that.
    const anchored = { ...rule, anchor_on: endlessDates({ ...rule, every: 1 }).next().value! };
    const today = addDays(TODAY, later);
    const dues = dueDates(anchored, addDays(today, 210)).filter((due) => rule.frequency === "once" || due >= TODAY);
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
    const until = addDays(today, 200);
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

function expected(database: TestDatabase, books: Books, from: string, to: string): Promise<Json[]> {
  return database.asRole(
    "authenticated",
    { sub: books.userId, organization_id: books.organizationId },
    (session) =>
      session.query(
        `select payee, due_on, expected_minor
       from app.expected_in_period(app.read_context($1), $2, $3) order by due_on, payee`,
        [`${books.today()}T12:00:00Z`, from, to],
      ),
  );
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
