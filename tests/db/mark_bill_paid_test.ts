import { assert, assertEquals, assertMatch } from "@std/assert";
import { addRate, type Books, type Json, openBooks, readChange, settleDay } from "../_support/books.ts";
import { sharedDatabase, type TestDatabase } from "../_support/database.ts";

const TODAY = "2026-11-20";

const database = await sharedDatabase();

const codes = (result: Json): string[] => result.warnings.map(({ code }: Json) => code);
const paymentsOf = (database: TestDatabase, id: string) =>
  database.query("select amount_minor, paid_on, source from app.payments where expense_id = $1 order by recorded_seq", [
    id,
  ]);

const withRent = (work: (books: Books, rent: Json) => Promise<void>) => async () => {
  const books = await openBooks(database, { day: "2026-10-15" });
  const { bill } = await books.ok("add_bill", { name: "Rent", amount: "1200", first_due: "2026-11-01" });
  books.goTo(TODAY);
  await work(books, bill);
};

Deno.test(
  "mark_bill_paid settles the rest of the earliest open date and moves next_due at once",
  withRent(async (books, rent) => {
    const result = await books.call("mark_bill_paid", { bill_name: "rent" });
    assertMatch(result.data.payment.id, /^pay_/);
    assertEquals(result.data, {
      payment: {
        id: result.data.payment.id,
        amount: "1200.00",
        currency: "EUR",
        paid_on: TODAY,
        base_amount: "1200.00",
      },
      occurrence: { due_on: "2026-11-01", status: "paid" },
      next_due: "2026-12-01",
      bill_id: rent.id,
      name: "Rent",
    });
    assertEquals(result.warnings, []);
    assertEquals(await readChange(database, result.change_id), {
      tool: "mark_bill_paid",
      summary: "Paid 1200.00 EUR for Rent due 2026-11-01",
    });
    // Undo reverts the payment and the occurrence, but no due date from the schedule.
    assertEquals(
      await database.query("select table_name from app.change_items where change_id = $1 order by position", [
        result.change_id,
      ]),
      [{ table_name: "payments" }, { table_name: "expense_occurrences" }],
    );
  }),
);

Deno.test(
  "mark_bill_paid pays the rest of a date that was paid in part, however far ahead",
  withRent(async (books) => {
    const { bill } = await books.ok("add_bill", { name: "Tax", amount: "90", first_due: "2027-03-01" });
    await books.ok("mark_bill_paid", { bill_id: bill.id, due_on: "2027-03-01", amount: "40" });
    const { payment, occurrence } = await books.ok("mark_bill_paid", { bill_id: bill.id });
    assertEquals([payment.amount, occurrence], ["50.00", { due_on: "2027-03-01", status: "paid" }]);
  }),
);

Deno.test(
  "mark_bill_paid records the day, the payer and a note",
  withRent(async (books, rent) => {
    await books.ok("mark_bill_paid", { bill_id: rent.id, paid_on: "2026-11-02", note: " by transfer " });
    const [row] = await database.query(
      "select paid_on, note, paid_by, source from app.payments where expense_id = $1",
      [rent.id],
    );
    assertEquals(row, { paid_on: "2026-11-02", note: "by transfer", paid_by: books.userId, source: "assistant" });
  }),
);

Deno.test(
  "mark_bill_paid pays the next date in advance and reports it",
  withRent(async (books, rent) => {
    await books.ok("mark_bill_paid", { bill_id: rent.id, due_on: "2026-11-01" });
    const result = await books.call("mark_bill_paid", { bill_id: rent.id, due_on: "2026-12-01" });
    assertEquals([result.data.occurrence.due_on, result.data.next_due, codes(result)], ["2026-12-01", "2027-01-01", [
      "paid_in_advance",
    ]]);
  }),
);

Deno.test(
  "mark_bill_paid pays any date of the schedule, and the dates between stay open",
  withRent(async (books, rent) => {
    const result = await books.ok("mark_bill_paid", { bill_id: rent.id, due_on: "2027-02-01" });
    assertEquals([result.occurrence.due_on, result.next_due], ["2027-02-01", "2026-12-01"]);
    const shown = await books.ok("list_bills", { bill_id: rent.id });
    assertEquals(shown.next_dates.slice(0, 4), ["2026-12-01", "2027-01-01", "2027-03-01", "2027-04-01"]);
    assertEquals(shown.bills[0].overdue, [{ due_on: "2026-11-01", amount: "1200.00" }]);
  }),
);

Deno.test(
  "mark_bill_paid lists the unpaid dates",
  withRent(async (books, rent) => {
    books.goTo("2027-01-10");
    const result = await books.call("mark_bill_paid", { bill_id: rent.id });
    assertEquals([result.data.occurrence.due_on, codes(result)], ["2026-11-01", ["overdue"]]);
    assertMatch(result.warnings[0].message, /2026-12-01 and 2027-01-01/);
  }),
);

Deno.test(
  "mark_bill_paid on a due day pays the date of that day, and names the older open one",
  withRent(async (books, rent) => {
    books.goTo("2026-12-01");
    const result = await books.call("mark_bill_paid", { bill_name: "Rent" });
    assertEquals([result.data.occurrence.due_on, result.data.next_due], ["2026-12-01", "2027-01-01"]);
    assertEquals(result.warnings, [{
      code: "overdue",
      message:
        "This was recorded for 2026-12-01, due on the day of the payment. Rent is still unpaid for 2026-11-01: " +
        "if the payment was for that date, undo this and call again with its due_on.",
    }]);
    // A repeated call pays nothing; next month's payment is for the next date.
    await books.fails("already_paid", "mark_bill_paid", { bill_name: "Rent" });
    books.goTo("2027-01-02");
    const late = await books.call("mark_bill_paid", { bill_name: "Rent", paid_on: "2027-01-01" });
    assertEquals(late.data.occurrence.due_on, "2027-01-01");
    assertEquals((await books.ok("list_bills", { bill_id: rent.id })).bills[0].overdue, [{
      due_on: "2026-11-01",
      amount: "1200.00",
    }]);
    const old = await books.call("mark_bill_paid", { bill_id: rent.id, due_on: "2026-11-01" });
    assertEquals(codes(old), []);
  }),
);

Deno.test(
  "mark_bill_paid off a due day pays the oldest date, and names the coming one that may have been meant",
  withRent(async (books) => {
    books.goTo("2026-11-30");
    const result = await books.call("mark_bill_paid", { bill_name: "Rent" });
    assertEquals(result.data.occurrence.due_on, "2026-11-01");
    assertMatch(
      result.warnings[0].message,
      /^This was recorded for 2026-11-01, the oldest open date\. Rent is still unpaid for 2026-12-01: /,
    );
  }),
);

Deno.test(
  "mark_bill_paid in advance does not pay the date of the day",
  withRent(async (books, rent) => {
    books.goTo("2026-12-01");
    const error = await books.fails("invalid_argument", "mark_bill_paid", { bill_id: rent.id, advance: true });
    assertMatch(error.message, /due 2026-11-01 is still open/);
  }),
);

Deno.test(
  "mark_bill_paid accepts part payments until nothing remains",
  withRent(async (books, rent) => {
    const part = await books.call("mark_bill_paid", { bill_id: rent.id, amount: "500" });
    assertEquals(part.warnings, [{
      code: "partly_paid",
      message:
        "700.00 EUR of Rent due 2026-11-01 is still open. If nothing more is owed, close it: update_bill with occurrence " +
        '{"due_on": "2026-11-01", "action": "set_amount", "amount": "500.00"}.',
    }]);
    const first = part.data;
    assertEquals([first.occurrence, first.next_due], [
      { due_on: "2026-11-01", status: "open", remaining: "700.00" },
      "2026-12-01",
    ]);
    const error = await books.fails("overpayment", "mark_bill_paid", { bill_id: rent.id, amount: "700.01" });
    assertEquals(error.details, { due_on: "2026-11-01", remaining: "700.00", currency: "EUR" });
    // The total charge, in a form that the caller can send unchanged.
    const [, occurrence, set, from] = /occurrence (\{.*?\}).*set (\{.*?\}) and apply_from "(.*?)"/.exec(error.hint)!;
    assertEquals(JSON.parse(occurrence!), { due_on: "2026-11-01", action: "set_amount", amount: "1200.01" });
    assertEquals([JSON.parse(set!), from], [{ amount: "1200.01" }, "2026-11-01"]);
    const second = await books.ok("mark_bill_paid", { bill_id: rent.id, amount: "300" });
    assertEquals(second.occurrence.remaining, "400.00");
    const rest = await books.ok("mark_bill_paid", { bill_id: rent.id });
    assertEquals([rest.payment.amount, rest.occurrence], ["400.00", { due_on: "2026-11-01", status: "paid" }]);
    assertEquals((await paymentsOf(database, rent.id)).length, 3);
  }),
);

Deno.test(
  "mark_bill_paid pays nothing twice after a repeated call",
  withRent(async (books, rent) => {
    const first = await books.ok("mark_bill_paid", { bill_name: "Rent" });
    const error = await books.fails("already_paid", "mark_bill_paid", { bill_name: "Rent" });
    assertEquals(error.retryable, false);
    assertEquals([error.details.payment.id, error.details.payment.paid_on], [first.payment.id, TODAY]);
    assertMatch(error.message, /already recorded: paid by \S+@example\.com on 2026-11-20/);
    assertMatch(error.hint, /due_on "2026-12-01"/);
    await books.fails("already_paid", "mark_bill_paid", { bill_id: rent.id, due_on: "2026-11-01" });
    assertEquals((await paymentsOf(database, rent.id)).length, 1);
    books.goTo("2026-11-28");
    assertEquals((await books.ok("mark_bill_paid", { bill_name: "Rent" })).occurrence.due_on, "2026-12-01");
  }),
);

Deno.test(
  "mark_bill_paid pays nothing twice after a repeated part payment",
  withRent(async (books, rent) => {
    await books.ok("mark_bill_paid", { bill_id: rent.id, amount: "500" });
    await books.fails("already_paid", "mark_bill_paid", { bill_id: rent.id, amount: "500" });
    await books.ok("mark_bill_paid", { bill_id: rent.id, amount: "500", due_on: "2026-11-01" });
    assertEquals((await paymentsOf(database, rent.id)).length, 2);
  }),
);

Deno.test(
  "mark_bill_paid treats a call by another member, or days later, as a repeat",
  withRent(async (books, rent) => {
    await books.ok("mark_bill_paid", { bill_id: rent.id, paid_on: "2026-11-01" });
    const member = await books.join();
    await member.fails("already_paid", "mark_bill_paid", { bill_id: rent.id });
    for (const day of ["2026-11-21", "2026-11-23", "2026-11-27"]) {
      books.goTo(day);
      for (const caller of [books, member]) {
        const error = await caller.fails("already_paid", "mark_bill_paid", { bill_id: rent.id });
        assertMatch(
          error.message,
          /^Rent due 2026-11-01 was paid by \S+@example\.com on 2026-11-01; the next date is 2026-12-01\./,
        );
        assertMatch(error.hint, /due_on "2026-12-01" or advance true/);
      }
    }
    assertEquals((await paymentsOf(database, rent.id)).length, 1);
  }),
);

Deno.test(
  "mark_bill_paid does not choose the next date while a paid one is nearer, however long the lead time",
  withRent(async (books) => {
    const { bill } = await books.ok("add_bill", {
      name: "Club",
      amount: "5",
      frequency: "weekly",
      first_due: TODAY,
      reminder: { enabled: true, days_before: 30 },
    });
    await books.ok("mark_bill_paid", { bill_id: bill.id });
    books.goTo("2026-11-22");
    await books.fails("already_paid", "mark_bill_paid", { bill_id: bill.id });
    books.goTo("2026-11-25");
    assertEquals((await books.ok("mark_bill_paid", { bill_id: bill.id })).occurrence.due_on, "2026-11-27");
  }),
);

Deno.test(
  "mark_bill_paid with advance pays the one date that follows, once",
  withRent(async (books, rent) => {
    const open = await books.fails("invalid_argument", "mark_bill_paid", { bill_id: rent.id, advance: true });
    assertEquals([open.field, open.message.includes("2026-11-01")], ["advance", true]);
    await books.ok("mark_bill_paid", { bill_id: rent.id });
    const ahead = await books.call("mark_bill_paid", { bill_id: rent.id, advance: true });
    assertEquals([ahead.data.occurrence.due_on, codes(ahead)], ["2026-12-01", ["paid_in_advance"]]);
    const error = await books.fails("already_paid", "mark_bill_paid", { bill_id: rent.id, advance: true });
    assertMatch(error.hint, /due_on "2027-01-01"/);
    await books.fails("already_paid", "mark_bill_paid", { bill_id: rent.id });
    assertEquals((await paymentsOf(database, rent.id)).length, 2);
  }),
);

Deno.test(
  "mark_bill_paid does not pay a never-paid bill ahead of time without a request",
  withRent(async (books) => {
    const { bill } = await books.ok("add_bill", {
      name: "Tax",
      amount: "9",
      frequency: "yearly",
      first_due: "2027-03-01",
    });
    const error = await books.fails("not_due", "mark_bill_paid", { bill_id: bill.id });
    assertEquals(error.details, { bill_id: bill.id, next_due: "2027-03-01" });
    assertEquals(await paymentsOf(database, bill.id), []);
    await books.ok("mark_bill_paid", { bill_id: bill.id, advance: true });
  }),
);

Deno.test(
  "mark_bill_paid resolves a month to the bill's open date in it, else to the paid one",
  withRent(async (books) => {
    const { bill } = await books.ok("add_bill", { name: "Power", amount: "9", first_due: "2026-08-20" });
    const paidFor = async (due_on: string) =>
      (await books.ok("mark_bill_paid", { bill_name: "power", due_on })).occurrence.due_on;
    assertEquals([await paidFor("2026-10"), await paidFor("--09"), await paidFor("this_month")], [
      "2026-10-20",
      "2026-09-20",
      "2026-11-20",
    ]);
    const { details } = await books.fails("already_paid", "mark_bill_paid", { bill_id: bill.id, due_on: "--10" });
    assertEquals(details.due_on, "2026-10-20");
    const { message } = await books.fails("invalid_argument", "mark_bill_paid", {
      bill_id: bill.id,
      due_on: "2026-07",
    });
    assertMatch(message, /not due on 2026-07\./);
    await books.ok("update_bill", { bill_id: bill.id, occurrence: { action: "skip", due_on: "2026-12" } });
    assertEquals(await paidFor("2027-01"), "2027-01-20");
  }),
);

Deno.test(
  "mark_bill_paid resolves a month with two dates to the open one",
  withRent(async (books) => {
    await books.ok("add_bill", { name: "Cleaning", amount: "9", month_days: [2, 16], first_due: "2026-11-02" });
    const paid = [];
    for (const _ of [1, 2]) {
      paid.push((await books.ok("mark_bill_paid", { bill_name: "cleaning", due_on: "2026-11" })).occurrence.due_on);
    }
    assertEquals(paid, ["2026-11-02", "2026-11-16"]);
  }),
);

Deno.test(
  "mark_bill_paid pays a bill with a single date ahead of time, and only once",
  withRent(async (books) => {
    const { bill } = await books.ok("add_bill", {
      name: "Plumber",
      amount: "380",
      first_due: "2026-11-30",
      frequency: "once",
    });
    assertEquals((await books.ok("mark_bill_paid", { bill_name: "Plumber" })).occurrence.due_on, "2026-11-30");
    await books.fails("already_paid", "mark_bill_paid", { bill_name: "Plumber" });
    assertEquals((await paymentsOf(database, bill.id)).length, 1);
  }),
);

Deno.test(
  "mark_bill_paid requires confirmation for a payment half a year from its date",
  withRent(async (books, rent) => {
    const far = { bill_id: rent.id, paid_on: "2020-01-01" };
    const error = await books.fails("date_out_of_range", "mark_bill_paid", far);
    assertEquals([error.field, error.retryable], ["paid_on", true]);
    assertMatch(error.hint, /due_on "2026-11-01", paid_on "2020-01-01" and confirm_days 2496\.$/);
    await books.fails("date_out_of_range", "mark_bill_paid", { ...far, confirm_days: 2495 });
    await books.fails("date_out_of_range", "mark_bill_paid", { bill_id: rent.id, due_on: "2027-11-01" });
    await books.ok("mark_bill_paid", { bill_id: rent.id, paid_on: "2026-05-05" });
    await books.fails("date_out_of_range", "mark_bill_paid", { ...far, due_on: "2026-11-01" });
    await books.ok("mark_bill_paid", { bill_id: rent.id, due_on: "2026-12-01", paid_on: "2026-06-04" });
    assertEquals((await paymentsOf(database, rent.id)).length, 2);
    await books.ok("mark_bill_paid", { ...far, due_on: "2026-11-01", confirm_days: 2496 });
    // A date that has been open for a long time needs confirmation, because people rarely mean it.
    books.goTo("2027-07-20");
    await books.fails("date_out_of_range", "mark_bill_paid", { bill_id: rent.id });
  }),
);

Deno.test(
  "mark_bill_paid corrects a settled date in one call, which can be undone",
  withRent(async (books, rent) => {
    const of = { bill_id: rent.id, due_on: "2026-11-01" };
    await books.ok("mark_bill_paid", { ...of, paid_on: "2026-11-02" });
    const tipped = await books.call("mark_bill_paid", { ...of, amount: "1250" });
    assertEquals(tipped.data.payment.amount, "1250.00");
    assertEquals([tipped.data.payment.paid_on, tipped.data.before, tipped.data.occurrence], [
      "2026-11-02",
      { amount: "1200.00", paid_on: "2026-11-02" },
      { due_on: "2026-11-01", status: "paid" },
    ]);
    assertEquals(codes(tipped), ["corrected"]);
    assertEquals(
      (await readChange(database, tipped.change_id)).summary,
      "Corrected the payment for Rent due 2026-11-01: 1200.00 EUR on 2026-11-02 became 1250.00 EUR on 2026-11-02",
    );
    const again = await books.fails("already_paid", "mark_bill_paid", { ...of, amount: "1250" });
    assertMatch(again.message, /already recorded as paid: 1250\.00 EUR by \S+ on 2026-11-02/);
    await books.ok("mark_bill_paid", { ...of, amount: "1100", paid_on: "2026-11-03", note: "less" });
    assertEquals(await paymentsOf(database, rent.id), [
      { amount_minor: 110000, paid_on: "2026-11-03", source: "assistant" },
    ]);
    const { undone } = await books.ok("undo_change", {});
    assertMatch(undone.summary, /^Corrected/);
    assertEquals((await paymentsOf(database, rent.id))[0]!.amount_minor, 125000);
    assertEquals((await books.ok("list_bills", { bill_id: rent.id })).bills[0].next_due, "2026-12-01");
  }),
);

Deno.test(
  "mark_bill_paid converts a correction at the rate of its own day",
  withRent(async (books) => {
    await addRate(database, "USD", "2026-11-02", "1.1000");
    await addRate(database, "USD", "2026-11-16", "1.2000");
    const { bill } = await books.ok("add_bill", {
      name: "Seat",
      amount: "132",
      currency: "USD",
      first_due: "2026-11-21",
    });
    const of = { bill_id: bill.id, due_on: "2026-11-21" };
    assertEquals((await books.ok("mark_bill_paid", of)).payment.base_amount, "110.00");
    assertEquals((await books.ok("mark_bill_paid", { ...of, paid_on: "2026-11-03" })).payment.base_amount, "120.00");
  }),
);

Deno.test(
  "mark_bill_paid does not guess which of several parts is wrong",
  withRent(async (books, rent) => {
    const of = { bill_id: rent.id, due_on: "2026-11-01" };
    await books.ok("mark_bill_paid", { ...of, amount: "500" });
    await books.ok("mark_bill_paid", { ...of, amount: "700" });
    const repeated = await books.fails("already_paid", "mark_bill_paid", { ...of, amount: "700" });
    assertMatch(repeated.message, /1200\.00 EUR in 2 payments/);
    assertMatch(repeated.hint, /"action": "reopen"/);
    const error = await books.fails("already_paid", "mark_bill_paid", { ...of, amount: "900" });
    assertMatch(error.hint, /"action": "reopen"/);
    assertEquals((await paymentsOf(database, rent.id)).length, 2);
  }),
);

Deno.test(
  "mark_bill_paid returns the first result for a repeated key",
  withRent(async (books, rent) => {
    const args = { bill_id: rent.id, idempotency_key: "pay-12345" };
    const first = await books.call("mark_bill_paid", args);
    assertEquals(await books.call("mark_bill_paid", args), { ...first, replayed: true });
    assertEquals((await paymentsOf(database, rent.id)).length, 1);
  }),
);

Deno.test(
  "mark_bill_paid rolls the bill first: automatic payments are recorded before the next date is paid",
  withRent(async (books) => {
    const { bill } = await books.ok("add_bill", {
      name: "Netflix",
      amount: "15",
      first_due: "2026-12-05",
      autopay: true,
    });
    books.goTo("2027-01-20");
    const result = await books.ok("mark_bill_paid", { bill_id: bill.id, advance: true });
    assertEquals([result.occurrence.due_on, result.next_due], ["2027-02-05", "2027-03-05"]);
    assertEquals((await paymentsOf(database, bill.id)).map(({ source }) => source), [
      "autopay",
      "autopay",
      "assistant",
    ]);
  }),
);

Deno.test(
  "mark_bill_paid replaces an estimate with the charged amount",
  withRent(async (books) => {
    const { bill } = await books.ok("add_bill", {
      name: "Gas",
      amount: "80",
      amount_mode: "estimated",
      first_due: "2026-12-01",
    });
    const less = await books.ok("mark_bill_paid", { bill_id: bill.id, advance: true, amount: "73.20" });
    assertEquals(less.occurrence, { due_on: "2026-12-01", status: "paid" });
    const more = await books.ok("mark_bill_paid", { bill_id: bill.id, due_on: "2027-01-01", amount: "95" });
    assertEquals(more.occurrence.status, "paid");
    const asExpected = await books.ok("mark_bill_paid", { bill_id: bill.id, due_on: "2027-02-01" });
    assertEquals(asExpected.payment.amount, "80.00");
  }),
);

Deno.test(
  "mark_bill_paid requires the amount of a variable bill until it is known",
  withRent(async (books) => {
    const { bill } = await books.ok("add_bill", { name: "Power", amount_mode: "variable", first_due: "2026-12-01" });
    const error = await books.fails("invalid_argument", "mark_bill_paid", { bill_id: bill.id, advance: true });
    assertEquals(error.field, "amount");
    assertEquals(
      (await books.ok("mark_bill_paid", { bill_id: bill.id, advance: true, amount: "84.20" })).occurrence.status,
      "paid",
    );
    // Fetched from the provider, so it is exact from then on.
    await database.query(
      "update app.expense_occurrences set expected_minor = 9000, amount_source = 'provider' where expense_id = $1 and status = 'open'",
      [bill.id],
    );
    await books.fails("overpayment", "mark_bill_paid", { bill_id: bill.id, due_on: "2027-01-01", amount: "90.01" });
    assertEquals(
      (await books.ok("mark_bill_paid", { bill_id: bill.id, due_on: "2027-01-01" })).payment.amount,
      "90.00",
    );
  }),
);

Deno.test(
  "mark_bill_paid keeps the base-currency value at the payment day's rate",
  withRent(async (books) => {
    await addRate(database, "USD", "2026-11-13", "1.0800");
    await settleDay(database, "2026-11-14");
    await books.ok("add_bill", { name: "Hosting", amount: "10.80", currency: "USD", first_due: "2026-12-01" });
    const known = await books.call("mark_bill_paid", {
      bill_name: "Hosting",
      advance: true,
      paid_on: "2026-11-14",
      currency: "USD",
    });
    assertEquals([known.data.payment.base_amount, codes(known)], ["10.00", ["paid_in_advance"]]);
    const unknown = await books.call("mark_bill_paid", {
      bill_name: "Hosting",
      due_on: "2027-01-01",
      paid_on: "2026-10-01",
    });
    assertEquals([unknown.data.payment.base_amount, codes(unknown)], [undefined, ["rate_missing", "paid_in_advance"]]);
  }),
);

Deno.test(
  "mark_bill_paid pays a date before the bill was added when the call names it",
  withRent(async (books, rent) => {
    await books.fails("invalid_argument", "mark_bill_paid", { bill_id: rent.id, due_on: "2026-10-01" });
    const { bill } = await books.ok("add_bill", { name: "Phone", amount: "20", first_due: "2026-09-10" });
    const result = await books.ok("mark_bill_paid", { bill_id: bill.id, due_on: "2026-11-10" });
    assertEquals([result.occurrence, result.next_due], [{ due_on: "2026-11-10", status: "paid" }, "2026-12-10"]);
  }),
);

Deno.test(
  "mark_bill_paid accepts a date as scheduled or as due",
  withRent(async (books) => {
    books.goTo("2026-11-16");
    for (const due_on of ["2026-11-22", "2026-11-23"]) {
      const { bill } = await books.ok("add_bill", {
        name: due_on,
        amount: "20",
        first_due: "2026-11-22",
        weekend_rule: "after",
      });
      assertEquals((await books.ok("mark_bill_paid", { bill_id: bill.id, due_on })).occurrence.due_on, "2026-11-23");
    }
  }),
);

Deno.test("mark_bill_paid prefers active bills to ended ones, exact names to parts, and names to payees", async () => {
  const books = await openBooks(database, { day: TODAY });
  const add = async (name: string, payee?: string) =>
    (await books.ok("add_bill", { name, payee, amount: "1", first_due: "2026-12-01" })).bill.id;
  const paidFor = async (bill_name: string) =>
    (await books.ok("mark_bill_paid", { bill_name, due_on: "2026-12-01" })).bill_id;
  const old = await add("Rent");
  await database.query("update app.expenses set status = 'cancelled', next_due = null where id = $1", [old]);
  const flat = await add("Rent flat", "Landlord");
  assertEquals(await paidFor("rent"), flat);
  const exact = await add("Rent");
  assertEquals(await paidFor("RENT"), exact);
  await add("Rent office", "Landlord");
  const error = await books.fails("ambiguous_name", "mark_bill_paid", { bill_name: "ren" });
  assertEquals(error.details.candidates.map(({ name }: Json) => name), ["Rent flat", "Rent", "Rent office"]);
  assert(error.details.candidates.every(({ id }: Json) => id.startsWith("bill_")));
  await books.fails("ambiguous_name", "mark_bill_paid", { bill_name: "landlord" });
  const power = await add("Electricity", "Vattenfall 100%");
  assertEquals(await paidFor("fall 100%"), power);
  const unknown = await books.fails("not_found", "mark_bill_paid", { bill_name: "Elektricity" });
  assertEquals(unknown.details.suggestions[0], "Electricity");
  await books.fails("not_found", "mark_bill_paid", { bill_name: "%" + "_" });
});

Deno.test(
  "mark_bill_paid refuses an id and a name of two different bills",
  withRent(async (books, rent) => {
    const netflix = (await books.ok("add_bill", { name: "Netflix", amount: "9", first_due: "2026-12-01" })).bill.id;
    const flat = (await books.ok("add_bill", { name: "Rent flat", amount: "9", first_due: "2026-12-01" })).bill.id;
    for (const bill_id of [netflix, flat]) {
      const error = await books.fails("invalid_argument", "mark_bill_paid", { bill_id, bill_name: "Rent" });
      assertEquals([error.field, error.details.bill_id], ["bill_id", bill_id]);
    }
    await books.ok("mark_bill_paid", { bill_id: flat, bill_name: "flat", advance: true });
    await books.ok("mark_bill_paid", { bill_id: rent.id, bill_name: "rent " });
    await books.ok("mark_bill_paid", { bill_id: netflix, bill_name: "", advance: true });
  }),
);

Deno.test(
  "mark_bill_paid for a future day names the next step for this bill",
  withRent(async (books, rent) => {
    for (const paid_on of ["2026-11-21", "2026-12-24"]) {
      const error = await books.fails("date_out_of_range", "mark_bill_paid", { bill_id: rent.id, paid_on });
      assertEquals(
        error.hint,
        `Leave paid_on out if it was paid today; otherwise call this again on ${paid_on}. The bill stays open until then, and its reminder stays on.`,
      );
    }
  }),
);

const refused: [string, string, (rent: Json) => Record<string, unknown>, string][] = [
  ["no bill", "invalid_argument", () => ({}), "bill_id"],
  ["an unknown id", "not_found", () => ({ bill_id: "bill_000000000000" }), "bill_id"],
  ["another currency", "invalid_argument", ({ id }) => ({ bill_id: id, amount: "1", currency: "USD" }), "currency"],
  ["too many decimals", "amount_precision", ({ id }) => ({ bill_id: id, amount: "1.001" }), "amount"],
  ["zero", "invalid_argument", ({ id }) => ({ bill_id: id, amount: "0" }), "amount"],
  ["too much", "overpayment", ({ id }) => ({ bill_id: id, amount: "1200.01" }), "amount"],
  ["a payment in the future", "date_out_of_range", ({ id }) => ({ bill_id: id, paid_on: "tomorrow" }), "paid_on"],
  ["a payment long ago", "date_out_of_range", ({ id }) => ({ bill_id: id, paid_on: "2001-01-01" }), "paid_on"],
  [
    "a day on which nothing is due",
    "invalid_argument",
    ({ id }) => ({ bill_id: id, due_on: "2026-11-02" }),
    "due_on",
  ],
];
for (const [name, code, argsOf, field] of refused) {
  Deno.test(
    `mark_bill_paid refuses ${name}`,
    withRent(async (books, rent) => {
      const error = await books.fails(code, "mark_bill_paid", argsOf(rent));
      assertEquals(error.field, field);
      assertEquals(await paymentsOf(database, rent.id), []);
    }),
  );
}

Deno.test(
  "mark_bill_paid names the argument for a charge in another currency",
  withRent(async (books, rent) => {
    const other = { bill_id: rent.id, amount: "1", currency: "USD" };
    const { hint } = await books.fails("invalid_argument", "mark_bill_paid", other);
    assertEquals(
      hint,
      "Give the amount in EUR. If only what the bank charged in USD is known, leave amount and currency out and give " +
        'charged {"amount": "…", "currency": "USD"}.',
    );
  }),
);

Deno.test(
  "mark_bill_paid lists the open dates when the named one is not due",
  withRent(async (books, rent) => {
    const error = await books.fails("invalid_argument", "mark_bill_paid", { bill_id: rent.id, due_on: "2026-11-02" });
    assertEquals(error.details, { open_dates: ["2026-11-01", "2026-12-01"] });
  }),
);

Deno.test(
  "mark_bill_paid refuses a skipped date",
  withRent(async (books, rent) => {
    await database.query(
      "update app.expense_occurrences set status = 'skipped', closed_at = now() where expense_id = $1",
      [rent.id],
    );
    await books.fails("invalid_argument", "mark_bill_paid", { bill_id: rent.id, due_on: "2026-11-01" });
    await books.fails("not_due", "mark_bill_paid", { bill_id: rent.id });
    assertEquals(
      (await books.ok("mark_bill_paid", { bill_id: rent.id, advance: true })).occurrence.due_on,
      "2026-12-01",
    );
  }),
);

Deno.test(
  "mark_bill_paid refuses a paused bill without open dates, and pays open ones",
  withRent(async (books, rent) => {
    await database.query("update app.expenses set status = 'paused', next_due = null where id = $1", [rent.id]);
    await books.fails("invalid_argument", "mark_bill_paid", { bill_id: rent.id, due_on: "2026-12-01" });
    assertEquals((await books.ok("mark_bill_paid", { bill_id: rent.id })).occurrence.due_on, "2026-11-01");
    books.goTo("2026-11-25");
    await books.fails("invalid_argument", "mark_bill_paid", { bill_id: rent.id });
  }),
);

Deno.test(
  "mark_bill_paid refuses a bill that is fully paid or deleted",
  withRent(async (books) => {
    const { bill } = await books.ok("add_bill", {
      name: "Deposit",
      amount: "5",
      frequency: "once",
      first_due: "today",
    });
    await books.ok("mark_bill_paid", { bill_id: bill.id });
    books.goTo("2026-12-24");
    await books.fails("already_paid", "mark_bill_paid", { bill_id: bill.id });
    await database.query("update app.expenses set deleted_at = now() where id = $1", [bill.id]);
    await books.fails("not_found", "mark_bill_paid", { bill_id: bill.id });
    await books.fails("not_found", "mark_bill_paid", { bill_name: "Deposit" });
  }),
);

Deno.test(
  "mark_bill_paid corrects a date in the currency of its payment",
  withRent(async (books, rent) => {
    await books.ok("mark_bill_paid", { bill_id: rent.id, due_on: "2026-11-01" });
    await books.ok("update_bill", { bill_id: rent.id, set: { currency: "JPY", amount: "190000" } });
    const yen = { bill_id: rent.id, due_on: "2026-11-01", amount: "1250", currency: "JPY" };
    const { message } = await books.fails("invalid_argument", "mark_bill_paid", yen);
    assertEquals(message, "Rent due 2026-11-01 is in EUR, not in JPY.");
    const { payment } = await books.ok("mark_bill_paid", { ...yen, amount: "1250.50", currency: "EUR" });
    assertEquals([payment.amount, payment.currency], ["1250.50", "EUR"]);
    assertEquals(
      await database.query("select amount_minor, currency from app.payments where expense_id = $1", [rent.id]),
      [{ amount_minor: 125050, currency: "EUR" }],
    );
  }),
);

Deno.test(
  "mark_bill_paid pays a date that was reopened in the currency of the bill",
  withRent(async (books, rent) => {
    const { change_id } = await books.call("mark_bill_paid", { bill_id: rent.id, due_on: "2026-11-01" });
    await books.ok("update_bill", { bill_id: rent.id, set: { currency: "JPY", amount: "190000" } });
    const reopened = await books.call("update_bill", {
      bill_id: rent.id,
      occurrence: { due_on: "2026-11-01", action: "reopen" },
    });
    const owed = async () => (await books.ok("list_bills", { bill_id: rent.id })).bills[0];
    assertEquals([(await owed()).amount, (await owed()).currency], ["190000", "JPY"]);
    await books.fails("overpayment", "mark_bill_paid", { bill_id: rent.id, due_on: "2026-11-01", amount: "190001" });
    const { payment, occurrence } = await books.ok("mark_bill_paid", { bill_id: rent.id });
    assertEquals([payment.amount, payment.currency, occurrence], ["190000", "JPY", {
      due_on: "2026-11-01",
      status: "paid",
    }]);
    // The opposite correction is also possible: the paid euros, in euros.
    await books.ok("undo_change");
    await books.ok("undo_change", { change_id: reopened.change_id });
    const paid = () =>
      database.query("select amount_minor, currency from app.payments where expense_id = $1 and deleted_at is null", [
        rent.id,
      ]);
    assertEquals(await paid(), [{ amount_minor: 120000, currency: "EUR" }]);
    await books.ok("undo_change", { change_id });
    assertEquals((await books.ok("mark_bill_paid", { bill_id: rent.id })).payment.currency, "JPY");
  }),
);

Deno.test(
  "mark_bill_paid reaches no bill of another organization, by id or by name",
  withRent(async (books, rent) => {
    const other = await openBooks(database, { day: TODAY });
    await other.fails("not_found", "mark_bill_paid", { bill_id: rent.id });
    await other.fails("not_found", "mark_bill_paid", { bill_name: "Rent" });
    await other.fails("not_found", "list_bills", { bill_id: rent.id });
    assertEquals((await other.ok("list_bills")).bills, []);
    assertEquals(await paymentsOf(database, rent.id), []);
    assertEquals((await books.ok("list_bills")).bills.length, 1);
  }),
);

// PGlite has one connection, so concurrent calls need a server.
Deno.test({
  name: "concurrent calls of mark_bill_paid pay once, pay ahead once and correct once",
  ignore: !Deno.env.get("TEST_DATABASE_URL"),
  async fn() {
    for (let round = 0; round < 10; round++) {
      const books = await openBooks(database, { day: TODAY });
      const { bill } = await books.ok("add_bill", { name: "Rent", amount: "1200", first_due: TODAY });
      const callers = [books, await books.join(), books];
      const results = await Promise.all(callers.map((one) => one.call("mark_bill_paid", { bill_id: bill.id })));
      assertEquals(results.map(({ ok, error }) => ok || error.code).toSorted(), [
        "already_paid",
        "already_paid",
        true,
      ]);
      assertEquals((await paymentsOf(database, bill.id)).length, 1);
      const ahead = await Promise.all(
        callers.map((one) => one.call("mark_bill_paid", { bill_id: bill.id, advance: true })),
      );
      assertEquals(ahead.filter(({ ok }) => ok).map(({ data }) => data.occurrence.due_on), ["2026-12-20"]);
      const corrections = await Promise.all(
        callers.map((one) => one.call("mark_bill_paid", { bill_id: bill.id, due_on: TODAY, amount: "1250" })),
      );
      assertEquals(corrections.map(({ ok, error }) => ok || error.code).toSorted(), [
        "already_paid",
        "already_paid",
        true,
      ]);
      assertEquals((await paymentsOf(database, bill.id)).map(({ amount_minor }) => amount_minor), [125000, 120000]);
    }
  },
});
