/** review_bills: its findings and its limits. */
import { assertEquals } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import type { Books, Json } from "../_support/books.ts";
import type { TestDatabase } from "../_support/database.ts";

const TODAY = "2026-11-20";
const add = async (books: Books, name: string, more: Record<string, unknown> = {}): Promise<string> =>
  (await books.ok("add_bill", { name, amount: "10", first_due: "2026-12-01", on_duplicate: "allow", ...more })).bill.id;
const link = (database: TestDatabase, books: Books, id: string, values: string) =>
  database.query(
    `insert into app.provider_links (organization_id, expense_id, provider_key, account_label, status, consecutive_failures, last_success_period, created_at)
     values ($1, $2, 'openai', 'Ac…01', ${values}, '2026-01-01')`,
    [books.organizationId, id],
  );
const textsOf = (findings: Json[]): string[] => findings.map(({ text }) => text);

testBooks("review_bills", { day: TODAY }, {
  "finds nothing in empty books": async (books) => {
    const data = await books.ok("review_bills");
    assertEquals(Object.values(data.counts), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assertEquals(data.overdue, []);
  },
  "overdue: lists each bill once, with its whole remaining amount": async (books) => {
    const id = await add(books, "Rent", { amount: "100" });
    await add(books, "Gym", { first_due: "2027-03-01" });
    books.goTo("2027-01-10");
    await books.ok("mark_bill_paid", { bill_id: id, due_on: "2026-12-01", amount: "40" });
    const { overdue, counts } = await books.ok("review_bills");
    assertEquals(overdue, [{
      bill_id: id,
      name: "Rent",
      due_on: "2026-12-01",
      days_overdue: 40,
      dates: 2,
      amount: "160.00",
      currency: "EUR",
      text: "Rent has been overdue since 2026-12-01 (2 dates): 160.00 EUR.",
    }]);
    assertEquals(counts.overdue, 1);
  },
  "price_rises: lists higher prices within the period, not lower ones": async (books) => {
    const netflix = await add(books, "Netflix", { amount: "12.99" });
    const phone = await add(books, "Phone", { amount: "30" });
    await books.ok("mark_bill_paid", { advance: true, bill_id: netflix });
    await books.ok("mark_bill_paid", { advance: true, bill_id: phone });
    await books.ok("update_bill", { bill_id: netflix, set: { amount: "15.99" } });
    await books.ok("update_bill", { bill_id: phone, set: { amount: "25" } });
    const { price_rises } = await books.ok("review_bills");
    assertEquals(textsOf(price_rises), [
      "Netflix will cost 15.99 EUR from 2027-01-01, up from 12.99 EUR (+23.1%), which is 36.00 EUR more a year.",
    ]);
    assertEquals([price_rises[0].upcoming, price_rises[0].since], [true, "2027-01-01"]);
    books.goTo("2027-06-20");
    assertEquals(textsOf((await books.ok("review_bills")).price_rises), [
      "Netflix has cost 15.99 EUR since 2027-01-01, up from 12.99 EUR (+23.1%), which is 36.00 EUR more a year.",
    ]);
    assertEquals((await books.ok("review_bills", { lookback_months: 3 })).price_rises, []);
    assertEquals((await books.ok("review_bills", { lookback_months: 6 })).price_rises.length, 1);
    await books.ok("update_bill", { bill_id: netflix, set: { amount: "12.99" } });
    assertEquals((await books.ok("review_bills")).price_rises, [], "it costs less again");
  },
  "price_rises: lists scheduled rises as list_bills shows them": async (books) => {
    const id = await add(books, "Netflix", { amount: "15.99", weekend_rule: "after" });
    const show = async () => (await books.ok("list_bills", { bill_id: id })).bills[0];
    assertEquals((await show()).next_price, undefined);
    for (const [apply_from, from] of [["2027-01-20", "2027-02-01"], ["2027-04-01", "2027-04-01"]] as const) {
      const { change_id } = await books.call("update_bill", { bill_id: id, set: { amount: "17.99" }, apply_from });
      const { amount, next_price } = await show();
      assertEquals([amount, next_price], ["15.99", { amount: "17.99", from }]);
      const [rise, ...more] = (await books.ok("review_bills")).price_rises;
      assertEquals([rise.old, rise.new, rise.since, rise.upcoming, more], ["15.99", "17.99", from, true, []]);
      await books.ok("undo_change", { change_id });
    }
    await books.ok("update_bill", {
      bill_id: id,
      occurrence: { action: "set_amount", due_on: "2026-12-01", amount: "10" },
    });
    assertEquals((await show()).next_price, undefined, "one date priced by hand is no earlier price");
  },
  "price_rises: ignores a yearly price after monthly ones, lists a higher monthly price on another day": async (
    books,
  ) => {
    const [internet, rent, phone] = [
      await add(books, "Internet", { amount: "44.99", first_due: "2026-12-05" }),
      await add(books, "Rent", { amount: "900", first_due: "2026-12-30" }),
      await add(books, "Phone", { amount: "20", first_due: "2026-12-07" }),
    ];
    books.goTo("2027-02-20");
    const set = { frequency: "yearly", amount: "480", first_due: "2027-03-05" };
    await books.ok("update_bill", { bill_id: internet, set });
    await books.ok("update_bill", { bill_id: rent, set: { amount: "950", month_days: [3] } });
    await books.ok("update_bill", { bill_id: phone, set: { ...set, amount: "200" }, apply_from: "2027-05-01" });
    assertEquals(textsOf((await books.ok("review_bills")).price_rises), [
      "Rent will cost 950.00 EUR from 2027-03-03, up from 900.00 EUR (+5.6%), which is 600.00 EUR more a year.",
    ]);
  },
  "unusual_amounts: lists amounts far from the median of at least three": async (books) => {
    const id = await add(books, "Power", { amount: undefined, amount_mode: "variable" });
    for (const amount of ["80", "90", "84.20"]) {
      await books.ok("mark_bill_paid", { bill_id: id, amount, due_on: await next(books, id) });
    }
    await books.ok("update_bill", {
      bill_id: id,
      occurrence: { action: "set_amount", due_on: await next(books, id), amount: "100" },
    });
    assertEquals((await books.ok("review_bills")).unusual_amounts, []);
    await books.ok("update_bill", {
      bill_id: id,
      occurrence: { action: "set_amount", due_on: await next(books, id), amount: "130" },
    });
    assertEquals(textsOf((await books.ok("review_bills")).unusual_amounts), [
      "Power due 2027-03-01 is 130.00 EUR, usually about 84.20 EUR (+54.4%).",
    ]);
  },
  "possible_duplicates: lists bills with the same payee, frequency and amount, or the same name": async (books) => {
    await add(books, "Netflix");
    const twin = await add(books, "netflix", { amount: "12" });
    await add(books, "Streaming", { payee: "Netflix" });
    await add(books, "Netflix", { frequency: "yearly" });
    await add(books, "Spotify");
    const { possible_duplicates } = await books.ok("review_bills");
    assertEquals(textsOf(possible_duplicates), [
      "Streaming and Netflix look like the same bill: 10.00 EUR, every month on the 1st.",
      "netflix exists twice: 12.00 EUR and 10.00 EUR, every month on the 1st.",
    ]);
    await books.ok("update_bill", { bill_id: twin, set: { status: "cancelled" } });
    assertEquals((await books.ok("review_bills")).counts.possible_duplicates, 1);
  },
  "possible_duplicates: recognizes a bill whose price changed by the earlier one": async (books) => {
    const rent = await add(books, "Rent", { payee: "Landlord", amount: "1450" });
    await add(books, "Czynsz", { payee: "Landlord", amount: "1450" });
    const found = async () => textsOf((await books.ok("review_bills")).possible_duplicates);
    await books.ok("mark_bill_paid", { bill_id: rent, advance: true });
    await books.ok("update_bill", { bill_id: rent, set: { amount: "1520" } });
    assertEquals(await found(), [
      "Czynsz and Rent look like the same bill: 1450.00 EUR and 1520.00 EUR, every month on the 1st.",
    ]);
    books.goTo("2028-01-10");
    assertEquals(await found(), []);
  },
  "trials_ending and cancel_by: list dates within the horizon": async (books) => {
    await add(books, "Zoom", { trial_ends_on: "2026-11-25" });
    await add(books, "Gym", { renews_on: "2027-03-01", notice_days: 90 });
    await add(books, "Late", { renews_on: "2026-12-01", notice_days: 30 });
    const data = await books.ok("review_bills", { horizon_days: 14 });
    assertEquals(textsOf(data.trials_ending), [
      "The trial of Zoom ends on 2026-11-25; after that it costs 10.00 EUR every month on the 1st.",
    ]);
    assertEquals(textsOf(data.cancel_by), ["Gym renews on 2027-03-01; to end it, cancel by 2026-12-01."]);
    assertEquals((await books.ok("review_bills", { horizon_days: 5 })).counts.cancel_by, 0);
  },
  "provider_attention: lists links that need a person": async (books, database) => {
    const more = { amount: undefined, amount_mode: "variable" };
    await link(database, books, await add(books, "A", more), "'needs_reauth', 2, null");
    await link(database, books, await add(books, "B", more), "'active', 1, '2026-10-01'");
    await link(database, books, await add(books, "C", more), "'active', 0, '2026-10-01'");
    assertEquals(textsOf((await books.ok("review_bills")).provider_attention), [
      "The amount of B could not be fetched from openai. sync_bill_amounts tries again.",
      "The owner has to reconnect A to openai: update_bill with provider connect gives the link.",
    ]);
    // Data that is never fetched needs no key.
    const fixed = await add(books, "D", more);
    await link(database, books, fixed, "'needs_reauth', 2, null");
    await books.ok("update_bill", { bill_id: fixed, set: { amount_mode: "fixed", amount: "5" } });
    books.goTo("2026-12-10");
    assertEquals((await books.ok("review_bills")).counts.provider_attention, 2);
    books.goTo("2026-12-11");
    assertEquals(textsOf((await books.ok("review_bills")).provider_attention).filter((text) => text.includes(" C ")), [
      "The amount of C is missing: openai has no statement for 2026-11. Set it with update_bill once it is known.",
    ]);
  },
  "provider_attention: does not report an amount that no date needs": async (books, database) => {
    const more = { amount: undefined, amount_mode: "variable" };
    const yearly = await add(books, "Domain", { ...more, frequency: "yearly", first_due: "2027-03-10" });
    const paid = await add(books, "Water", more);
    const open = await add(books, "Power", more);
    for (const id of [yearly, paid, open]) await link(database, books, id, "'active', 0, null");
    books.goTo("2026-12-05");
    await books.ok("mark_bill_paid", { bill_id: paid, amount: "80" });
    books.goTo("2026-12-15");
    const { provider_attention } = await books.ok("review_bills");
    assertEquals(provider_attention.map(({ name, kind }: Json) => [name, kind]), [["Power", "amount_missing"]]);
  },
  "ignores a paused bill": async (books) => {
    const id = await add(books, "Rent", { trial_ends_on: "2026-11-25" });
    await books.ok("update_bill", { bill_id: id, set: { status: "paused" } });
    books.goTo("2027-01-10");
    assertEquals(Object.values((await books.ok("review_bills")).counts).filter(Boolean), []);
  },
});

const next = async (books: Books, id: string): Promise<string> =>
  (await books.ok("list_bills", { bill_id: id })).bills[0].next_due;
