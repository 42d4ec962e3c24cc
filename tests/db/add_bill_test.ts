import { assertEquals, assertMatch } from "@std/assert";
import { type Books, type Json, openBooks, readChange } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";

const TODAY = "2026-11-20"; // a Friday

const database = await sharedDatabase();

const count = async (books: Books) =>
  (await database.query<{ count: number }>("select count(*) as count from app.expenses where organization_id = $1", [
    books.organizationId,
  ]))[0]!.count;
const withBooks = (work: (books: Books) => Promise<void>) => async () =>
  await work(await openBooks(database, { day: TODAY }));

Deno.test(
  "add_bill adds a bill with the defaults, from a day of the month",
  withBooks(async (books) => {
    const result = await books.call("add_bill", {
      name: "  Netflix ",
      amount: "15.99",
      month_days: [5],
      remind_days_before: 3,
      category: "subscriptions",
    });
    const { id, ...bill } = result.data.bill;
    assertMatch(id, /^bill_[0-9a-f]{15}$/);
    assertEquals(bill, {
      name: "Netflix",
      category: "Subscriptions",
      amount: "15.99",
      currency: "EUR",
      amount_mode: "fixed",
      schedule_text: "every month on the 5th",
      next_due: "2026-12-05",
      days_until: 15,
      state: "upcoming",
      overdue: [],
      status: "active",
      autopay: false,
      reminder: { enabled: true, days_before: 3 },
      monthly_equivalent: "15.99",
      version: 1,
    });
    assertEquals(result.data.status, "created");
    assertEquals(result.data.next_dates, ["2026-12-05", "2027-01-05", "2027-02-05"]);
    assertEquals(result.data.first_reminder_on, "2026-12-02");
    assertEquals(result.warnings, []);
    assertEquals(await readChange(database, result.change_id), {
      tool: "add_bill",
      summary: "Added Netflix: 15.99 EUR every month on the 5th",
    });
  }),
);

Deno.test(
  "add_bill keeps every field",
  withBooks(async (books) => {
    const { bill } = await books.ok("add_bill", {
      name: "Gym",
      amount: "89.5",
      currency: "CHF",
      amount_mode: "estimated",
      frequency: "yearly",
      first_due: "2027-02-28",
      weekend_rule: "before",
      ends_on: "2030-12-31",
      ends_after: 3,
      payee: "Fit AG",
      tags: ["sport", "Sport", "me"],
      note: "two\nlines",
      autopay: true,
      reminder_enabled: false,
      trial_ends_on: "2027-01-31",
      renews_on: "2027-03-31",
      notice_days: 30,
      my_share_percent: 33.33,
    });
    assertEquals({ ...bill, id: "" }, {
      id: "",
      name: "Gym",
      payee: "Fit AG",
      category: "Health",
      tags: ["sport", "me"],
      note: "two\nlines",
      amount: "89.50",
      is_estimate: true,
      currency: "CHF",
      amount_mode: "estimated",
      schedule_text: "every year on 28 February, or the Friday before if that is a weekend, until 2030-12-31, 3 times",
      next_due: "2027-02-26",
      days_until: 98,
      state: "upcoming",
      overdue: [],
      status: "active",
      autopay: true,
      reminder: { enabled: false, days_before: 3 },
      monthly_equivalent: "7.46",
      trial_ends_on: "2027-01-31",
      renews_on: "2027-03-31",
      cancel_by: "2027-03-01",
      share_note: "A note: 33.33%, 29.83 CHF. Payments, totals and balances count the " +
        "whole amount.",
      version: 1,
    });
  }),
);

Deno.test(
  "add_bill counts from the first month day on or after first_due, even if it skips later months",
  withBooks(async (books) => {
    const rent = await books.ok("add_bill", {
      name: "A",
      amount: "1",
      month_days: [31, 15, -1],
      first_due: "2026-12-20",
    });
    assertEquals(rent.next_dates, ["2026-12-31", "2027-01-15", "2027-01-31"]);
    assertEquals(rent.bill.schedule_text, "twice a month on the 15th and last day");
    const quarter = await books.ok("add_bill", { name: "B", amount: "1", month_days: [5], every: 3 });
    assertEquals(quarter.next_dates, ["2026-12-05", "2027-03-05", "2027-06-05"]);
    const today = await books.ok("add_bill", { name: "C", amount: "1", month_days: [20] });
    // The day's mails were sent before noon.
    assertEquals([today.bill.next_due, today.bill.state, today.first_reminder_on], [TODAY, "due", "2026-11-23"]);
  }),
);

Deno.test(
  "add_bill counts weekdays of the month, even once a year",
  withBooks(async (books) => {
    const cleaner = await books.ok("add_bill", {
      name: "Cleaner",
      amount: "60",
      month_weekdays: ["3MO", "1MO", "1MO"],
    });
    assertEquals(cleaner.next_dates, ["2026-12-07", "2026-12-21", "2027-01-04"]);
    assertEquals(cleaner.bill.schedule_text, "twice a month on the first Monday and third Monday");
    const gala = { name: "Gala", amount: "1", month_weekdays: ["-1FR"], every: 12, first_due: "2027-05-01" };
    const { bill, next_dates } = await books.ok("add_bill", gala);
    assertEquals(next_dates, ["2027-05-28", "2028-05-26", "2029-05-25"]);
    const moved = await books.ok("update_bill", { bill_id: bill.id, set: { month_weekdays: ["2TU"], every: 1 } });
    assertEquals([moved.bill.next_due, moved.bill.schedule_text], [
      "2027-06-08",
      "every month on the second Tuesday",
    ]);
  }),
);

Deno.test(
  "add_bill reports that past due dates are not tracked",
  withBooks(async (books) => {
    const result = await books.call("add_bill", {
      name: "Rent",
      amount: "1",
      frequency: "monthly",
      first_due: "2026-10-01",
    });
    assertEquals(result.warnings.map(({ code }: Json) => code), ["past_dates_not_tracked"]);
    assertMatch(result.warnings[0].message, /2026-12-01/);
  }),
);

Deno.test(
  "add_bill warns when first_due is not one of the month days",
  withBooks(async (books) => {
    const result = await books.call("add_bill", {
      name: "Rent",
      amount: "1",
      first_due: "2026-12-10",
      month_days: [3],
    });
    assertEquals([result.data.bill.next_due, result.warnings], ["2027-01-03", [{
      code: "first_due_moved",
      message: "Rent is next due on 2027-01-03, not on 2026-12-10: that is not one of the given days of the month.",
    }]]);
  }),
);

Deno.test(
  "add_bill warns of another bill with the same name and of the limits of sharing",
  withBooks(async (books) => {
    const { bill } = await books.ok("add_bill", { name: "Rent", amount: "1200", first_due: "2026-12-01" });
    const second = { name: "rent", amount: "100", month_days: [1], my_share_percent: 50 };
    const result = await books.call("add_bill", second);
    assertEquals(result.warnings.map(({ code }: Json) => code), ["same_name", "share_is_a_note"]);
    assertEquals(
      result.warnings[0].message,
      "There is already a bill called Rent: 1200.00 EUR, every month on the 1st. " +
        `Both exist now; if this was meant to change it, undo this and use update_bill with ${bill.id}.`,
    );
    assertMatch(result.data.bill.share_note, /50%, 50\.00 EUR.*count the whole amount/);
    const allowed = await books.call("add_bill", { ...second, amount: "1", on_duplicate: "allow" });
    assertEquals(allowed.warnings.map(({ code }: Json) => code), ["share_is_a_note"]);
    const update = await books.call("update_bill", { bill_id: bill.id, set: { my_share_percent: 33.33 } });
    assertEquals(update.warnings[0].code, "share_is_a_note");
    assertMatch(update.data.bill.share_note, /33\.33%, 399\.96 EUR/);
    const again = await books.ok("update_bill", { bill_id: bill.id, set: { my_share_percent: 100 } });
    assertEquals([again.before.share_note, again.bill.share_note], [update.data.bill.share_note, undefined]);
  }),
);

Deno.test(
  "add_bill warns of another bill with the same payee, frequency and amount",
  withBooks(async (books) => {
    const rent = { name: "Rent", amount: "1450", payee: "Hausverwaltung Nord", month_days: [1] };
    const { bill } = await books.ok("add_bill", rent);
    const warnings = async (more: Json) =>
      (await books.call("add_bill", { ...rent, name: "Czynsz", dry_run: true, ...more })).warnings
        .filter(({ code }: Json) => code !== "dry_run");
    assertEquals(await warnings({ payee: "HAUSVERWALTUNG NORD" }), [{
      code: "same_name",
      message: "Czynsz looks like the bill Rent of the same payee: 1450.00 EUR, every month on the 1st. " +
        `Both exist now; if this was meant to change it, undo this and use update_bill with ${bill.id}.`,
    }]);
    for (
      const other of [{ amount: "60" }, { payee: "Garage" }, { every: 3 }, { currency: "USD" }, {
        on_duplicate: "allow",
      }]
    ) {
      assertEquals(await warnings(other), [], JSON.stringify(other));
    }
  }),
);

Deno.test(
  "add_bill warns of another bill with the same amount and date under another name",
  withBooks(async (books) => {
    const power = { name: "Power", payee: "Stadtwerke", amount: "84", month_days: [20], category: "Utilities" };
    const { bill } = await books.ok("add_bill", power);
    const electricity = { name: "Electricity", amount: "84", month_days: [18], dry_run: true };
    const warnings = async (more: Json = {}) =>
      (await books.call("add_bill", { ...electricity, ...more })).warnings
        .filter(({ code }: Json) => code !== "dry_run");
    assertEquals(await warnings(), [{
      code: "same_name",
      message:
        "Electricity costs as much as the bill Power and is due within three days of it: 84.00 EUR, every month on the 20th. Ask " +
        `the person whether they are one cost, which would count twice. If so, undo this; Power is ${bill.id}.`,
    }]);
    assertEquals((await warnings({ name: "Strom", payee: "Stadtwerke München", month_days: [23] })).length, 1);
    // A date paid in advance keeps its identity.
    await books.ok("mark_bill_paid", { bill_id: bill.id, paid_on: "today", due_on: bill.next_due });
    assertEquals((await warnings({ name: "Strom" })).length, 1);
    for (
      const other of [
        { amount: "84.01" },
        { month_days: [16] },
        { month_days: [24] },
        { every: 3 },
        {
          frequency: "yearly",
          first_due: "2026-12-20",
          month_days: undefined,
        },
        { currency: "USD" },
        { payee: "Telekom" },
        { category: "Insurance" },
        { on_duplicate: "allow" },
      ]
    ) {
      assertEquals(await warnings(other), [], JSON.stringify(other));
    }
    await books.ok("update_bill", { bill_id: bill.id, set: { status: "cancelled" } });
    assertEquals(await warnings(), []);
  }),
);

Deno.test(
  "add_bill accepts a variable bill without an amount",
  withBooks(async (books) => {
    const { bill } = await books.ok("add_bill", { name: "Power", amount_mode: "variable", month_days: [1] });
    assertEquals([bill.amount, bill.usual_amount, bill.monthly_equivalent, bill.state], [
      undefined,
      undefined,
      undefined,
      "amount_missing",
    ]);
    const usual = await books.ok("add_bill", {
      name: "Water",
      amount_mode: "variable",
      amount: "40",
      month_days: [1],
    });
    assertEquals([usual.bill.amount, usual.bill.usual_amount, usual.bill.monthly_equivalent], [
      undefined,
      "40.00",
      "40.00",
    ]);
  }),
);

Deno.test(
  "add_bill handles currencies with any number of decimals",
  withBooks(async (books) => {
    const yen = await books.ok("add_bill", { name: "Yen", amount: "1200", currency: "JPY", month_days: [1] });
    const dinar = await books.ok("add_bill", { name: "Dinar", amount: "7.125", currency: "KWD", month_days: [1] });
    assertEquals([yen.bill.amount, dinar.bill.amount], ["1200", "7.125"]);
    await books.fails("amount_precision", "add_bill", {
      name: "Yen",
      amount: "1200.5",
      currency: "JPY",
      month_days: [1],
    });
  }),
);

Deno.test(
  "add_bill warns that the plan does not include reminders",
  withBooks(async (books) => {
    await database.query("update identity.organizations set plan = 'free' where id = $1", [books.organizationId]);
    const result = await books.call("add_bill", { name: "Rent", amount: "1", month_days: [1] });
    assertEquals(result.warnings.map(({ code }: Json) => code), ["reminders_inactive"]);
    assertEquals(result.data.first_reminder_on, undefined);
    assertEquals(result.data.bill.reminder.enabled, true);
    const quiet = await books.call("add_bill", {
      name: "Quiet",
      amount: "2",
      month_days: [1],
      reminder_enabled: false,
    });
    assertEquals([quiet.warnings, quiet.data.first_reminder_on], [[], undefined]);
  }),
);

Deno.test(
  "add_bill does not add the same bill twice",
  withBooks(async (books) => {
    const bill = { name: "Rent", amount: "900", first_due: "2026-12-01" };
    const first = await books.ok("add_bill", bill);
    for (const same of [bill, { ...bill, name: "RENT", first_due: "2027-03-01" }]) {
      const again = await books.call("add_bill", same);
      assertEquals([again.data.status, again.data.bill.id, again.change_id], ["duplicate", first.bill.id, undefined]);
      assertEquals(again.warnings.map(({ code }: Json) => code), ["duplicate"]);
    }
    for (
      const other of [{ amount: "901" }, { currency: "USD" }, { first_due: "2026-12-02" }, { every: 2 }, {
        name: "Rents",
      }]
    ) {
      assertEquals((await books.ok("add_bill", { ...bill, ...other })).status, "created");
    }
    assertEquals((await books.ok("add_bill", { ...bill, on_duplicate: "allow" })).status, "created");
    await database.query(
      "update app.expenses set status = 'cancelled', next_due = null where name = 'Rent' and organization_id = $1",
      [
        books.organizationId,
      ],
    );
    assertEquals((await books.ok("add_bill", bill)).status, "created");
  }),
);

Deno.test(
  "add_bill previews without writing",
  withBooks(async (books) => {
    const result = await books.call("add_bill", { name: "Rent", amount: "1", month_days: [1], dry_run: true });
    assertEquals([result.data.status, result.data.bill.id, result.data.bill.next_due], [
      "would_create",
      undefined,
      "2026-12-01",
    ]);
    assertEquals(result.warnings.map(({ code }: Json) => code), ["dry_run"]);
    assertEquals(await count(books), 0);
  }),
);

Deno.test(
  "add_bill returns the first result for a repeated key",
  withBooks(async (books) => {
    const args = { name: "Rent", amount: "1", month_days: [1], on_duplicate: "allow", idempotency_key: "key-12345" };
    const first = await books.call("add_bill", args);
    assertEquals(await books.call("add_bill", args), { ...first, replayed: true });
    assertEquals(await count(books), 1);
  }),
);

const bill = { name: "Rent", amount: "900", first_due: "2026-12-01" };
const refused: [string, string, Record<string, unknown>, string][] = [
  ["a blank name", "invalid_argument", { ...bill, name: " " }, "name"],
  ["no amount", "invalid_argument", { ...bill, amount: undefined }, "amount"],
  [
    "no amount for an estimate",
    "invalid_argument",
    { ...bill, amount: undefined, amount_mode: "estimated" },
    "amount",
  ],
  ["an amount of zero", "invalid_argument", { ...bill, amount: "0" }, "amount"],
  ["too many decimals", "amount_precision", { ...bill, amount: "9.999" }, "amount"],
  ["an unknown currency", "currency_unknown", { ...bill, currency: "XYZ" }, "currency"],
  ["no day", "invalid_argument", { ...bill, first_due: undefined }, "first_due"],
  ["a day that does not exist", "date_out_of_range", { ...bill, first_due: "2027-02-30" }, "first_due"],
  [
    "days of the month for a weekly bill",
    "invalid_argument",
    { ...bill, frequency: "weekly", month_days: [1] },
    "month_days",
  ],
  [
    "weekdays of the month for a yearly bill",
    "invalid_argument",
    { ...bill, frequency: "yearly", month_weekdays: ["1MO"] },
    "month_weekdays",
  ],
  [
    "days and weekdays",
    "invalid_argument",
    { ...bill, month_days: [1], month_weekdays: ["1MO"] },
    "month_weekdays",
  ],
  [
    "weekdays that may be the same day",
    "invalid_argument",
    { ...bill, month_weekdays: ["4MO", "-1MO"] },
    "month_weekdays",
  ],
  ["an end before the start", "invalid_argument", { ...bill, ends_on: "2026-11-30" }, "ends_on"],
  ["a schedule that is over", "invalid_argument", { ...bill, first_due: "2026-01-01", ends_after: 3 }, "first_due"],
  ["a notice without a renewal", "invalid_argument", { ...bill, notice_days: 30 }, "renews_on"],
  ["too fine a share", "invalid_argument", { ...bill, my_share_percent: 33.333 }, "my_share_percent"],
  ["a category that does not exist", "category_not_found", { ...bill, category: "Hosing" }, "category"],
  ["too many tags", "invalid_argument", { ...bill, tags: [..."abcdefghijk"] }, "tags"],
];
Deno.test(
  "add_bill refuses more bills than the jobs can process",
  withBooks(async (books) => {
    await books.ok("add_bill", bill);
    await database.query(
      `insert into app.expenses (id, organization_id, kind, name, amount_mode, amount_minor, currency, frequency, every, month_days, weekend_rule, anchor_on, tracked_from, next_due, status)
     select app.new_id('bill'), organization_id, kind, name || n, amount_mode, amount_minor, currency, frequency, every, month_days, weekend_rule, anchor_on, tracked_from, next_due, status
     from app.expenses, generate_series(1, 4999) as n where organization_id = $1`,
      [books.organizationId],
    );
    const error = await books.fails("invalid_argument", "add_bill", { ...bill, name: "One more" });
    assertEquals(error.message, "Household has 5000 bills, which is the maximum.");
    assertEquals((await books.ok("add_bill", bill)).status, "duplicate");
  }),
);
for (const [name, code, args, field] of refused) {
  Deno.test(
    `add_bill refuses ${name}`,
    withBooks(async (books) => {
      const error = await books.fails(code, "add_bill", args);
      assertEquals(error.field, field);
      assertEquals(await count(books), 0);
    }),
  );
}
