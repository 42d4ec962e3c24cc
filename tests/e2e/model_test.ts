/**
 * A person's sentences, a model's calls and possible replies. Then a model makes common mistakes, follows the errors'
 * hints and leaves correct books.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import { addRate } from "../_support/books.ts";
import { type Json, type Member, newMember } from "./connector_harness.ts";

const database = await sharedDatabase();
for (const day of ["2026-09-07", "2026-09-15", "2026-10-05"]) await addRate(database, "USD", day, "1.25");

/** A person in Berlin on Tuesday, 6 October 2026. */
async function newPerson(): Promise<Member> {
  const member = await newMember(database, { organization: "Acme" });
  return {
    ...member,
    async ok(tool, args) {
      const envelope = await member.ok(tool, args);
      // The context of every sentence: the books and the day.
      assertEquals([envelope.context.organization.name, envelope.context.today], ["Acme", "2026-10-06"]);
      return envelope;
    },
    async fails(tool, args) {
      const error = await member.fails(tool, args);
      // An actionable hint: a next step, or existing values.
      assert(error.hint || error.details || /must be one of/.test(error.message), JSON.stringify(error));
      return error;
    },
  };
}

Deno.test("log 14.50 EUR lunch yesterday", async () => {
  const { ok } = await newPerson();
  const { data, change_id } = await ok("log_expenses", {
    items: [{ name: "Lunch", amount: "14.50", currency: "EUR", date: "yesterday" }],
  });
  const [{ status, id, date, amount, currency, category, category_source }] = data.results;
  assertEquals([status, date, amount, currency], ["created", "2026-10-05", "14.50", "EUR"]);
  assertEquals([category, category_source], ["Food", "keyword"]);
  assertMatch(id, /^exp_/);
  assertMatch(change_id, /^chg_/);
});

Deno.test("what bills are due this week", async () => {
  const { ok } = await newPerson();
  await ok("add_bill", { name: "Rent", amount: "900", first_due: "2026-10-08" });
  await ok("add_bill", { name: "Cloud", amount: "12.50", currency: "USD", first_due: "2026-10-13" });
  await ok("add_bill", { name: "Later", amount: "5", first_due: "2026-10-20" });
  const { data, totals_by_currency } = await ok("list_bills", { due_within_days: 7 });
  assertEquals(
    data.bills.map((
      { name, next_due, days_until, amount, currency }: Json,
    ) => [name, next_due, days_until, amount, currency]),
    [
      ["Rent", "2026-10-08", 2, "900.00", "EUR"],
      ["Cloud", "2026-10-13", 7, "12.50", "USD"],
    ],
  );
  assertEquals(totals_by_currency, { EUR: "900.00", USD: "12.50" });
  assertEquals([data.totals.due.amount, data.totals.due.currency], ["910.00", "EUR"]);
});

Deno.test("mark the rent paid", async () => {
  const { ok, fails } = await newPerson();
  await ok("add_bill", { name: "Rent", amount: "900", first_due: "2026-10-08" });
  const { data } = await ok("mark_bill_paid", { bill_name: "rent" });
  assertEquals([data.name, data.payment.amount, data.payment.paid_on], ["Rent", "900.00", "2026-10-06"]);
  assertEquals([data.occurrence.due_on, data.occurrence.status, data.next_due], ["2026-10-08", "paid", "2026-11-08"]);
  assertEquals((await fails("mark_bill_paid", { bill_name: "rent" })).code, "already_paid");
  await ok("add_bill", { name: "Rent office", amount: "300", first_due: "2026-10-09" });
  await ok("add_bill", { name: "Rent garage", amount: "60", first_due: "2026-10-10" });
  const ambiguous = await fails("mark_bill_paid", { bill_name: "ren" });
  assertEquals(ambiguous.code, "ambiguous_name");
  assertEquals(ambiguous.details.candidates.length >= 2, true);
  assertMatch(ambiguous.details.candidates[0].id, /^bill_/);
});

Deno.test("spend by category last month in USD", async () => {
  const { ok } = await newPerson();
  await ok("log_expenses", {
    items: [
      { name: "Lunch", amount: "8", date: "2026-09-07", category: "Food" },
      { name: "Flight", amount: "100", date: "2026-09-15", category: "Travel" },
      { name: "Yen", amount: "500", currency: "JPY", date: "2026-09-15", category: "Travel" },
    ],
  });
  const { data, warnings } = await ok("summarize_spending", {
    period: "last_month",
    group_by: ["category"],
    in_currency: "USD",
  });
  assertEquals(data.period, { from: "2026-09-01", to: "2026-09-30" });
  assertEquals(data.rows.map(({ group, amount }: Json) => [group[0], amount]), [["Travel", "125.00"], [
    "Food",
    "10.00",
  ]]);
  assertEquals([data.total.amount, data.total.currency, data.fx.sources, data.fx.as_of], [
    "135.00",
    "USD",
    ["ecb"],
    "2026-09-15",
  ]);
  assertEquals(data.unconverted, [{ currency: "JPY", amount: "500", count: 1 }]);
  assertEquals(warnings.map(({ code }: Json) => code), ["books_begin", "rate_missing"]);
});

Deno.test("add Netflix 15.99 monthly from the 5th, remind 3 days before", async () => {
  const { ok } = await newPerson();
  const { data, change_id } = await ok("add_bill", {
    name: "Netflix",
    amount: "15.99",
    month_days: [5],
    reminder_enabled: true,
    remind_days_before: 3,
    category: "Subscriptions",
  });
  assertEquals([data.status, data.next_dates, data.first_reminder_on], [
    "created",
    ["2026-11-05", "2026-12-05", "2027-01-05"],
    "2026-11-02",
  ]);
  assertEquals([data.bill.name, data.bill.amount, data.bill.category, data.bill.reminder], [
    "Netflix",
    "15.99",
    "Subscriptions",
    { enabled: true, days_before: 3 },
  ]);
  assertMatch(data.bill.schedule_text, /5th|5/);
  assertMatch(change_id, /^chg_/);
});

Deno.test("show spending chart", async () => {
  const { ok, call } = await newPerson();
  await ok("log_expenses", { items: [{ name: "Lunch", amount: "14.50", category: "Food" }] });
  const { data } = await ok("show_spending_chart", {});
  assertEquals([data.chart, data.total.amount, data.series[0].points], ["by_category", "14.50", [{
    x: "Food",
    y: "14.50",
  }]]);
  // For hosts without charts, the text has the number, then a table.
  const { text } = await call("show_spending_chart", {});
  assert(text.includes("14.50 EUR this month.") && text.includes("| Food | 14.50 | 100% |"));
});

Deno.test("undo that", async () => {
  const { ok, fails } = await newPerson();
  const { change_id } = await ok("log_expenses", { items: [{ name: "Lunch", amount: "14.50" }] });
  const { data } = await ok("undo_change", { change_id });
  assertEquals([data.undone.summary, data.reversed.map(({ what }: Json) => what)], ["Logged Lunch, 14.50 EUR", [
    "Lunch removed",
  ]]);
  assertEquals((await ok("list_expenses")).total_count, 0);
  const { results: [{ id }], change } = await ok("log_expenses", { items: [{ name: "Tea", amount: "2" }] })
    .then(({ data, change_id }) => ({ ...data, change: change_id }));
  await ok("update_expenses", { ids: [id], set: { amount: "3" } });
  const conflict = await fails("undo_change", { change_id: change });
  assertEquals([conflict.code, conflict.details.rows[0].current.amount], ["undo_conflict", "3.00"]);
});

Deno.test("import this CSV", async () => {
  const { ok, fails } = await newPerson();
  const csv = "Datum;Text;Betrag\n05.10.2026;Kaffee;-3,50\n04.10.2026;Miete;-1.200,00\n";
  const { data: { preview } } = await ok("import_expenses", { csv });
  assertEquals([preview.rows_ok, preview.totals, preview.rows_bad], [2, { EUR: "1203.50" }, []]);
  assertEquals([preview.mapping.date, preview.mapping.decimal, preview.mapping.negative_is_expense], [
    "Datum",
    ",",
    true,
  ]);
  const { import_id, rows_ok, commit_with } = preview;
  const expected_totals = [{ currency: "EUR", amount: "1203.50" }];
  assertEquals(commit_with, { import_id, expected_count: rows_ok, expected_totals });
  const { details } = await fails("import_expenses", { ...commit_with, expected_count: 1 });
  assertEquals(details.commit_with, commit_with);
  const { data, change_id } = await ok("import_expenses", commit_with);
  assertEquals(data, { created: 2, linked: 0, skipped: 0, totals: { EUR: "1203.50" } });
  await ok("undo_change", { change_id });
  assertEquals((await ok("list_expenses")).total_count, 0);
});

Deno.test("these 40 lines", async () => {
  const { ok } = await newPerson();
  const items = Array.from(
    { length: 40 },
    (_, i) => ({ name: `Line ${i}`, amount: `${i + 1}.10`, date: "2026-10-01" }),
  );
  const preview = await ok("log_expenses", { items, dry_run: true });
  assertEquals([preview.data.results.length, preview.data.totals_by_currency, preview.change_id], [40, {
    EUR: "824.00",
  }, undefined]);
  assertEquals(preview.warnings.at(-1).code, "dry_run");
  assertEquals((await ok("list_expenses")).total_count, 0);
  const written = await ok("log_expenses", { items });
  assertEquals(written.data.totals_by_currency, preview.data.totals_by_currency);
  assertMatch(written.change_id, /^chg_/);
});

Deno.test("a model that makes common mistakes ends with the right books", async () => {
  const { ok, fails, call } = await newPerson();

  // Amounts and dates as people write them are understood.
  {
    await ok("log_expenses", { items: [{ name: "Groceries run", amount: 54.2 }] });
    const { data } = await ok("log_expenses", { items: [{ name: "Taxi", amount: "20,00", date: "5 Oct" }] });
    assertEquals([data.results[0].amount, data.results[0].date], ["20.00", "2026-10-05"]);
  }

  // An ambiguous amount: the error lists both readings, and the model asks.
  {
    const { field, hint } = await fails("log_expenses", { items: [{ name: "Sofa", amount: "1,234" }] });
    assertEquals(field, "items[0].amount");
    assertMatch(hint, /Ask whether "1234" or "1\.234" is meant/);
  }

  // A misspelt category: the error suggests the right one.
  {
    const item = { name: "Apples", amount: "3", category: "Grocries" };
    const { code, details } = await fails("log_expenses", { items: [item] });
    assertEquals([code, details.suggestions[0]], ["category_not_found", "Groceries"]);
    const { data } = await ok("log_expenses", { items: [{ ...item, category: details.suggestions[0] }] });
    assertEquals(data.results[0].category, "Groceries");
  }

  // The wrong tool first: a future bill is not logged, and the error names the right tool.
  {
    const { code, hint } = await fails("log_expenses", {
      items: [{ name: "Insurance", amount: "120", date: "2026-10-20" }],
    });
    assertEquals(code, "date_out_of_range");
    assertMatch(hint, /add_bill with frequency "once" and first_due "2026-10-20"/);
    const { data } = await ok("add_bill", {
      name: "Insurance",
      amount: "120",
      frequency: "once",
      first_due: "2026-10-20",
    });
    assertEquals(data.status, "created");
  }

  // A repeated call after a lost answer writes nothing twice.
  {
    for (
      const [tool, args] of [
        ["add_bill", { name: "Rent office", amount: "900", first_due: "2026-10-08" }],
        ["add_bill", { name: "Rent home", amount: "700", first_due: "2026-10-09" }],
        ["log_expenses", { items: [{ name: "Dinner", amount: "31" }] }],
        ["log_expenses", { items: [{ name: "Coffee", amount: "3" }], idempotency_key: "lost-answer-1" }],
      ] as const
    ) {
      const first = await ok(tool, args);
      const again = await ok(tool, args);
      assert(
        again.replayed || again.data.status === "duplicate" || again.data.results?.[0].status === "duplicate",
        tool,
      );
      assert(again.replayed || again.change_id === undefined);
      assertMatch(first.change_id, /^chg_/);
    }
  }

  // An ambiguous name: the error lists the candidates, and a repeated call pays nothing twice.
  {
    const { code, details } = await fails("mark_bill_paid", { bill_name: "rent" });
    assertEquals(code, "ambiguous_name");
    const office = details.candidates.find(({ name }: Json) => name === "Rent office");
    await ok("mark_bill_paid", { bill_id: office.id });
    assertEquals((await fails("mark_bill_paid", { bill_id: office.id })).code, "already_paid");
  }

  // A paid bill that is also logged, and an import that is sent and committed twice, each count once.
  {
    const paid = await ok("log_expenses", { items: [{ name: "Rent office", amount: "900" }] });
    assertEquals(paid.data.results[0].status, "duplicate");
    const csv = "Date,Name,Amount\n2026-10-02,Books,15.00\n2026-10-05,Taxi,20.00\n";
    await ok("import_expenses", { csv });
    const { data: { preview } } = await ok("import_expenses", { csv });
    const early = await ok("import_expenses", { import_id: preview.import_id });
    assertEquals(early.data.preview.commit_with, preview.commit_with);
    const first = await ok("import_expenses", preview.commit_with);
    const again = await ok("import_expenses", preview.commit_with);
    assertEquals([first.data.created, first.data.skipped, again.change_id, again.replayed], [
      1,
      1,
      first.change_id,
      true,
    ]);
  }

  // Invented arguments, or a name in place of an id: the error lists existing values.
  {
    assertMatch((await fails("summarize_spending", { month: "2026-10" })).hint, /Known fields: .*period/);
    assertMatch(
      (await fails("show_spending_chart", { chart: "radar" })).message,
      /must be one of: by_category, over_time/,
    );
    assertMatch((await fails("delete_records", { ids: ["Coffee"] })).hint, /take them from an earlier answer/);
  }

  // The books have the expected totals.
  {
    const { total_count, totals_by_currency, data } = await ok("list_expenses", { sort: "amount" });
    assertEquals(data.rows.map(({ name, amount }: Json) => `${name} ${amount}`), [
      "Rent office 900.00",
      "Groceries run 54.20",
      "Dinner 31.00",
      "Taxi 20.00",
      "Books 15.00",
      "Coffee 3.00",
      "Apples 3.00",
    ]);
    assertEquals([total_count, totals_by_currency], [7, { EUR: "1026.20" }]);
    const bills = (await ok("list_bills")).data.bills;
    assertEquals(bills.map(({ name, next_due }: Json) => [name, next_due]), [
      ["Rent home", "2026-10-09"],
      ["Insurance", "2026-10-20"],
      ["Rent office", "2026-11-08"],
    ]);
    assert((await call("list_bills")).text.length < 25_000);
  }
});
