import { assertEquals, assertMatch } from "@std/assert";
import { addRate, type Books, type Json, openBooks } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";

const TODAY = "2026-11-20";

const database = await sharedDatabase();

const withBooks = (work: (books: Books) => Promise<void>) => async () =>
  await work(await openBooks(database, { day: TODAY }));
const add = async (books: Books, name: string, args: Record<string, unknown>): Promise<Json> =>
  (await books.ok("add_bill", { name, amount: "10", ...args })).bill;
const names = async (books: Books, args: Record<string, unknown> = {}): Promise<string[]> =>
  (await books.ok("list_bills", args)).bills.map(({ name }: Json) => name);

Deno.test(
  "list_bills finds a word in other languages, and names the bills that a word or category misses",
  withBooks(async (books) => {
    const first_due = "2026-12-01";
    await add(books, "Haftpflichtversicherung", { first_due });
    await add(books, "Car insurance", { first_due, amount: "40", category: "Insurance" });
    await add(books, "Allianz", { first_due, amount: "60", category: "Insurance" });
    await add(books, "Fröhlich", { first_due, amount: "20" });
    const told = async (args: Json) => {
      const { data, warnings } = await books.call("list_bills", args);
      return [data.bills.length, ...warnings.map(({ message }: Json) => message)];
    };
    assertEquals(await told({ query: "insurance" }), [
      2,
      'Not included, because only their category Insurance has the word: Allianz. category "Insurance" finds them.',
    ]);
    assertEquals(await told({ category: "Insurance" }), [
      2,
      "Not included, because they have no category: Fröhlich and Haftpflichtversicherung. If some belong here, update_bill sets their category.",
    ]);
    assertEquals(await told({ category: "Insurance", query: "insurance" }), [
      1,
      "Not included, because they have no category: Haftpflichtversicherung. If some belong here, update_bill sets their category.",
    ]);
    assertEquals(await told({ query: "frohlich" }), [1]);
    assertEquals(await told({ category: "Uncategorized" }), [2]);
  }),
);

Deno.test(
  "list_bills sorts active bills by their earliest open date, with totals of all",
  withBooks(async (books) => {
    await add(books, "Later", { first_due: "2027-01-01", amount: "100", frequency: "yearly" });
    await add(books, "Soon", { first_due: "2026-11-25", amount: "30", frequency: "weekly" });
    await add(books, "Late", { first_due: "2026-11-10", amount: "7", frequency: "once" });
    const result = await books.call("list_bills");
    assertEquals(result.data.bills.map(({ name, state }: Json) => [name, state]), [
      ["Late", "overdue"],
      ["Soon", "upcoming"],
      ["Later", "upcoming"],
    ]);
    // Overdue, and due by the end of the month; a year has 365.2425 days.
    assertEquals(result.data.totals, {
      due: { amount: "37.00", currency: "EUR", until: "2026-11-30" },
      monthly: { amount: "138.78", currency: "EUR" },
      yearly: { amount: "1665.32", currency: "EUR" },
    });
    assertEquals([result.total_count, result.totals_by_currency], [3, { EUR: "37.00" }]);
  }),
);

Deno.test(
  "list_bills state shows the required action",
  withBooks(async (books) => {
    const stateOf = async (id: string) => (await books.ok("list_bills", { bill_id: id })).bills[0].state;
    const rent = await add(books, "Rent", { first_due: "2026-12-01", remind_days_before: 5 });
    const power = await add(books, "Power", { first_due: "2026-12-01", amount: undefined, amount_mode: "variable" });
    assertEquals([await stateOf(rent.id), await stateOf(power.id)], ["upcoming", "amount_missing"]);
    books.goTo("2026-11-26");
    assertEquals(await stateOf(rent.id), "due");
    await books.ok("mark_bill_paid", { bill_id: rent.id });
    // Paid in advance, so no date is due this month. December's payment makes December paid.
    assertEquals(await stateOf(rent.id), "upcoming");
    books.goTo("2026-12-02");
    assertEquals([await stateOf(rent.id), await stateOf(power.id)], ["paid", "overdue"]);
    await books.ok("mark_bill_paid", { bill_id: power.id, amount: "84.20" });
    assertEquals(await stateOf(power.id), "paid");
    books.goTo("2026-12-29");
    assertEquals([await stateOf(rent.id), await stateOf(power.id)], ["due", "amount_missing"]);
    for (
      const [state, found] of Object.entries({
        due: ["Rent"],
        amount_missing: ["Power"],
        overdue: [],
        paid: [],
        upcoming: [],
      })
    ) {
      assertEquals(await names(books, { state }), found, state);
    }
    books.goTo("2027-01-10");
    assertEquals((await names(books, { state: "overdue" })).toSorted(), ["Power", "Rent"]);
  }),
);

Deno.test(
  "list_bills shows a bill with another date this month as not paid yet",
  withBooks(async (books) => {
    const gym = await add(books, "Gym", { first_due: "2026-11-20", frequency: "weekly" });
    await books.ok("mark_bill_paid", { bill_id: gym.id });
    assertEquals(await names(books, { state: "paid" }), []);
    await books.ok("mark_bill_paid", { bill_id: gym.id, due_on: "2026-11-27" });
    assertEquals(await names(books, { state: "paid" }), ["Gym"]);
  }),
);

Deno.test(
  "list_bills counts an automatic payment as paid before it is recorded",
  withBooks(async (books) => {
    await add(books, "Netflix", { first_due: "2026-11-25", autopay: true });
    books.goTo("2026-11-26");
    assertEquals(await names(books, { state: "paid" }), ["Netflix"]);
    books.goTo("2027-03-26");
    assertEquals(await names(books, { state: "paid" }), ["Netflix"]);
    books.goTo("2027-03-24");
    assertEquals(await names(books, { state: "paid" }), []);
  }),
);

Deno.test(
  "list_bills names and adds up a bill that is due today",
  withBooks(async (books) => {
    await add(books, "Rent", { first_due: TODAY, amount: "30" });
    const { bills, totals } = await books.ok("list_bills", { due_within_days: 0 });
    assertEquals(bills.map(({ next_due, days_until }: Json) => [next_due, days_until]), [[TODAY, 0]]);
    assertEquals(totals.due.amount, "30.00");
  }),
);

Deno.test(
  "list_bills due_within_days includes overdue dates and adds up every date in the window",
  withBooks(async (books) => {
    await add(books, "Late", { first_due: "2026-11-10", amount: "7", frequency: "once" });
    await add(books, "Daily", { first_due: "2026-11-21", amount: "1", frequency: "daily" });
    await add(books, "Friday", { first_due: "2026-11-27", amount: "30", frequency: "weekly" });
    await add(books, "Saturday", { first_due: "2026-11-28", amount: "50", frequency: "weekly" });
    const result = await books.call("list_bills", { due_within_days: 7 });
    assertEquals(result.data.bills.map(({ name }: Json) => name), ["Late", "Daily", "Friday"]);
    // A monthly total for these bills alone could be mistaken for a total of all.
    assertEquals(result.data.totals, { due: { amount: "44.00", currency: "EUR", until: "2026-11-27" } });
    assertEquals(Object.keys((await books.ok("list_bills", { state: "overdue" })).totals), ["due"]);
    assertEquals(result.data.bills.map(({ due_in_window }: Json) => due_in_window), [
      { count: 1, amount: "7.00" },
      { count: 7, amount: "7.00" },
      { count: 1, amount: "30.00" },
    ]);
    assertEquals(await names(books, { due_within_days: 0 }), ["Late"]);
  }),
);

Deno.test(
  "list_bills filters by status, text and category",
  withBooks(async (books) => {
    await add(books, "Rent", { first_due: "2026-12-01", payee: "Landlord", category: "Housing" });
    const gym = await add(books, "Gym", { first_due: "2026-12-02", note: "Contract 100%_7", category: "Health" });
    const other = await add(books, "Other", { first_due: "2026-12-03", category: "Uncategorized" });
    await books.ok("update_bill", { bill_id: gym.id, set: { status: "cancelled" } });
    assertEquals(await names(books), ["Rent", "Other"]);
    assertEquals(await names(books, { status: "cancelled" }), ["Gym"]);
    assertEquals((await names(books, { status: "all" })).length, 3);
    assertEquals(await names(books, { query: "landLORD" }), ["Rent"]);
    assertEquals(await names(books, { query: "100%_", status: "all" }), ["Gym"]);
    assertEquals(await names(books, { query: "%" }), []);
    assertEquals(await names(books, { category: "housing" }), ["Rent"]);
    for (const category of ["Uncategorized", "none"]) assertEquals(await names(books, { category }), ["Other"]);
    const error = await books.fails("category_not_found", "list_bills", { category: "Hosing" });
    assertEquals(error.details.suggestions[0], "Housing");
    await database.query("update app.expenses set deleted_at = now() where id = $1", [other.id]);
    assertEquals(await names(books, { status: "all" }), ["Rent", "Gym"]);
    await books.fails("not_found", "list_bills", { bill_id: other.id });
  }),
);

Deno.test(
  "list_bills converts totals at today's rate and lists amounts without a rate",
  withBooks(async (books) => {
    await addRate(database, "USD", "2026-11-19", "1.25");
    await addRate(database, "JPY", "2026-11-19", "160");
    await add(books, "Rent", { first_due: "2026-11-30", amount: "100" });
    await add(books, "Hosting", { first_due: "2026-11-30", amount: "25", currency: "USD" });
    await add(books, "Manga", { first_due: "2026-11-30", amount: "1600", currency: "JPY" });
    await add(books, "School", { first_due: "2026-11-30", amount: "7.125", currency: "KWD" });
    const result = await books.call("list_bills");
    assertEquals(result.data.totals.due.amount, "130.00");
    assertEquals(result.totals_by_currency, { EUR: "100.00", USD: "25.00", JPY: "1600", KWD: "7.125" });
    assertEquals(result.warnings.map(({ code }: Json) => code), ["rate_missing"]);
    assertMatch(result.warnings[0].message, /KWD/);
    const inYen = await books.call("list_bills", { in_currency: "JPY" });
    assertEquals(inYen.data.totals, {
      due: { amount: "20800", currency: "JPY", until: "2026-11-30", converted_from: ["EUR", "USD"] },
      monthly: { amount: "20800", currency: "JPY", converted_from: ["EUR", "USD"] },
      yearly: { amount: "249600", currency: "JPY", converted_from: ["EUR", "USD"] },
    });
    await books.fails("currency_unknown", "list_bills", { in_currency: "XYZ" });
  }),
);

Deno.test(
  "list_bills counts due dates without an amount",
  withBooks(async (books) => {
    await add(books, "Power", { first_due: "2026-11-25", amount: undefined, amount_mode: "variable" });
    await add(books, "Water", { first_due: "2026-11-26", amount: undefined, amount_mode: "variable" });
    const result = await books.call("list_bills");
    assertEquals(result.warnings, [{
      code: "amount_missing",
      message: "2 due dates have no amount yet and are not in the totals.",
    }]);
  }),
);

Deno.test(
  "list_bills pages through all bills once, with the same totals",
  withBooks(async (books) => {
    for (let i = 0; i < 7; i++) await add(books, `Bill ${i}`, { first_due: i < 4 ? "2026-12-01" : "2026-12-02" });
    const seen: string[] = [];
    const totals: Json[] = [];
    let cursor: string | undefined;
    do {
      const page = await books.call("list_bills", { limit: 3, ...(cursor && { cursor }) });
      seen.push(...page.data.bills.map(({ name }: Json) => name));
      totals.push([page.total_count, page.data.totals.monthly.amount]);
      cursor = page.next_cursor;
    } while (cursor);
    assertEquals(seen, [0, 1, 2, 3, 4, 5, 6].map((i) => `Bill ${i}`));
    assertEquals(totals, [[7, "70.00"], [7, "70.00"], [7, "70.00"]]);
    const { next_cursor } = await books.call("list_bills", { limit: 3 });
    await books.fails("invalid_argument", "list_bills", { limit: 3, cursor: next_cursor, query: "x" });
    await books.fails("invalid_argument", "list_bills", { cursor: "nonsense" });
  }),
);

Deno.test(
  "list_bills with bill_id lists the history of one bill",
  withBooks(async (books) => {
    const rent = await add(books, "Rent", { first_due: "2026-12-01", amount: "1000", payee: "Landlord" });
    const [payment] = [await books.ok("mark_bill_paid", { advance: true, bill_id: rent.id, note: "first" })];
    await database.query("update app.expenses set amount_minor = 110000 where id = $1", [rent.id]);
    await database.query(
      "update app.expense_occurrences set expected_minor = 110000 where expense_id = $1 and status = 'open'",
      [rent.id],
    );
    const shown = await books.ok("list_bills", {
      bill_id: rent.id,
      status: "cancelled",
      query: "ignored with bill_id",
    });
    assertEquals(shown.payments, [{
      id: payment.payment.id,
      paid_on: TODAY,
      due_on: "2026-12-01",
      amount: "1000.00",
      currency: "EUR",
      base_amount: "1000.00",
      source: "assistant",
      note: "first",
    }]);
    assertEquals(shown.price_changes, [{ due_on: "2027-01-01", old: "1000.00", new: "1100.00", change_percent: 10 }]);
    assertEquals(shown.next_dates, [
      "2027-01-01",
      "2027-02-01",
      "2027-03-01",
      "2027-04-01",
      "2027-05-01",
      "2027-06-01",
    ]);
    assertEquals(shown.bills.length, 1);
    await database.query(
      `insert into app.payments (organization_id, expense_id, amount_minor, currency, paid_on)
     select organization_id, id, 1, 'EUR', day from app.expenses, generate_series(date '2025-01-01', '2025-01-20', '1 day') as day where id = $1`,
      [rent.id],
    );
    assertEquals((await books.ok("list_bills", { bill_id: rent.id })).payments.length, 12);
  }),
);

Deno.test(
  "list_bills shows the provider of a variable bill but no price changes",
  withBooks(async (books) => {
    const power = await add(books, "Power", { first_due: "2026-12-01", amount: undefined, amount_mode: "variable" });
    await database.query(
      "insert into app.provider_links (organization_id, expense_id, provider_key, account_label, status) values ($1, $2, 'openai', '…1234', 'active')",
      [books.organizationId, power.id],
    );
    await books.ok("mark_bill_paid", { advance: true, bill_id: power.id, amount: "80" });
    await books.ok("mark_bill_paid", { bill_id: power.id, amount: "90", due_on: "2027-01-01" });
    const { bills: [bill], price_changes } = await books.ok("list_bills", { bill_id: power.id });
    assertEquals([bill.provider, bill.amount, bill.usual_amount, price_changes], [
      { name: "openai", status: "active" },
      undefined,
      "90.00",
      [],
    ]);
  }),
);

Deno.test(
  "list_bills shows the unpaid rest of a partly paid date",
  withBooks(async (books) => {
    const rent = await add(books, "Rent", { first_due: "2026-11-30", amount: "1000" });
    await books.ok("mark_bill_paid", { advance: true, bill_id: rent.id, amount: "400" });
    const { bills: [bill], totals } = await books.ok("list_bills");
    assertEquals([bill.amount, bill.remaining, totals.due.amount], ["1000.00", "600.00", "600.00"]);
  }),
);

Deno.test(
  "list_bills counts only a bill's remaining dates in totals, and marks estimates and conversions",
  withBooks(async (books) => {
    await addRate(database, "USD", "2026-11-27", "1.25");
    books.goTo("2026-11-30");
    const bill = { first_due: "2026-12-01" };
    await add(books, "Coffee", { ...bill, amount: "4", frequency: "daily", ends_on: "2026-12-24" });
    await add(books, "Course", { ...bill, amount: "20", ends_after: 3 });
    await add(books, "Power", { ...bill, amount: "50", amount_mode: "estimated" });
    await add(books, "Cloud", { ...bill, amount: "12.50", currency: "USD" });
    assertEquals((await books.ok("list_bills")).totals, {
      due: { amount: "0.00", currency: "EUR", until: "2026-11-30" },
      monthly: { amount: "176.00", currency: "EUR", estimated: "50.00", converted_from: ["USD"] },
      yearly: { amount: "876.00", currency: "EUR", estimated: "600.00", converted_from: ["USD"] },
    });
  }),
);

Deno.test(
  "list_bills writes nothing",
  withBooks(async (books) => {
    await add(books, "Netflix", { first_due: "2026-11-25", autopay: true });
    books.goTo("2027-06-01");
    const dump = () =>
      database.query(
        `select (select jsonb_agg(to_jsonb(e)) from app.expenses as e) as expenses, (select count(*) from app.payments) as payments,
         (select count(*) from app.expense_occurrences) as occurrences, (select count(*) from app.change_sets) as changes`,
      );
    const before = await dump();
    await books.ok("list_bills");
    assertEquals(await dump(), before);
  }),
);
