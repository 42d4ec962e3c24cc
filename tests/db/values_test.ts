/** A payment has the same value in every answer and total, however it was recorded. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { addRate, type Books, type Json, settleDay } from "../_support/books.ts";
import { type Step, testBooks } from "../_support/book_steps.ts";
import type { TestDatabase } from "../_support/database.ts";

const MONTH = { from: "2026-11-01", to: "2026-11-30" };
const codes = ({ warnings }: Json) => warnings.map(({ code }: Json) => code);

/** The value of the only payment in each answer. */
async function everywhere(books: Books, billId?: string) {
  const values = [
    (await books.ok("list_expenses", MONTH)).rows[0].base_amount,
    (await books.ok("summarize_spending", MONTH)).total.amount,
    (await books.ok("show_spending_chart", MONTH)).total.amount,
    /,([\d.]+),(bill_\w+)?,(true)?,[^,]*$/m.exec(
      (await books.ok("list_expenses", { ...MONTH, format: "csv" })).csv.split("\n")[1],
    )![1],
  ];
  if (billId) values.push((await books.ok("list_bills", { bill_id: billId })).payments[0].base_amount);
  assertEquals(new Set(values).size, 1, values.join());
  return values[0];
}

/** Acts like the daily job when a day's rate arrives. */
async function publish(database: TestDatabase, day: string, rate: string) {
  await addRate(database, "USD", day, rate);
  await database.asService("settle_values", { after: null, size: 500 });
}

async function payHosting(books: Books, more: Json = {}) {
  const { bill } = await books.ok("add_bill", {
    name: "Hosting",
    amount: "110",
    currency: "USD",
    first_due: "2026-11-20",
  });
  return { bill, paid: await books.call("mark_bill_paid", { bill_id: bill.id, ...more }) };
}

/** Rates are shared, so each test has its own currency. */
const withoutRates = (steps: Record<string, Step>): Record<string, Step> =>
  Object.fromEntries(
    Object.entries(steps).map(([name, step]) => [name, async (books, database) => {
      await database.query("delete from app.fx_rates");
      await database.query("delete from app.fx_days");
      await step(books, database);
    }]),
  );

testBooks(
  "the value of a payment",
  {},
  withoutRates({
    "is written again only when it changes": async (books, database) => {
      await addRate(database, "USD", "2026-11-19", "1.1");
      await payHosting(books);
      const version = () => database.query("select xmin::text, base_minor::int from app.payments");
      const before = await version();
      await database.asService("settle_values", { after: null, size: 500 });
      assertEquals(await version(), before);
      await publish(database, "2026-11-20", "1.2");
      assertEquals((await version()).map(({ base_minor }) => base_minor), [9167]);
    },
    "is the same in every answer, before and after its rate is published": async (books, database) => {
      await addRate(database, "USD", "2026-11-19", "1.1");
      const { bill, paid } = await payHosting(books);
      assertEquals([paid.data.payment.base_amount, codes(paid)], ["100.00", ["rate_pending"]]);
      assertEquals(await everywhere(books, bill.id), "100.00");
      for (
        const [tool, args] of [["list_expenses", {}], ["summarize_spending", MONTH], ["show_spending_chart", MONTH], [
          "list_bills",
          { bill_id: bill.id },
        ]] as const
      ) {
        assertEquals(codes(await books.call(tool, args)).filter((code: string) => code !== "period_running"), [
          "rate_pending",
        ], tool);
      }
      await publish(database, "2026-11-20", "1.25");
      assertEquals(await everywhere(books, bill.id), "88.00");
      assertEquals(codes(await books.call("list_bills", { bill_id: bill.id })), []);
      // Later rates belong to other days.
      await publish(database, "2026-11-21", "9");
      assertEquals(await everywhere(books, bill.id), "88.00");
    },

    "from the embedded snapshot is marked provisional until a real rate replaces it": async (
      books,
      database,
    ) => {
      const snapshot = { source: "snapshot", published_on: "2026-09-29", per_euro: { USD: "1.1" }, days: {} };
      await database.asService("store_rates", { ...snapshot, at: "2026-11-20T06:00:00Z" });
      const { bill, paid } = await payHosting(books);
      assertEquals([paid.data.payment.base_amount, codes(paid)], ["100.00", ["rate_snapshot"]]);
      assertMatch(paid.warnings[0].message, /^Values in EUR are provisional .* exchange rates from 2026-09-29/);
      assertEquals(await everywhere(books, bill.id), "100.00");
      for (const tool of ["list_expenses", "summarize_spending", "show_spending_chart"]) {
        assert(codes(await books.call(tool, MONTH)).includes("rate_snapshot"), tool);
      }
      // Uses another currency's rates, which were never stored.
      const other = await books.call("summarize_spending", { ...MONTH, in_currency: "USD" });
      assertEquals([other.data.total.amount, codes(other).includes("rate_snapshot")], ["110.00", false]);
      const context = await books.call("get_context", { include: [] });
      assertEquals([context.data.fx_as_of, codes(context)], ["2026-09-29", ["rate_snapshot"]]);

      // A snapshot's rate is provisional even on its own day.
      const dated = { name: "Domain", amount: "11", currency: "USD", date: "2026-09-29" };
      assert(codes(await books.call("log_expenses", { items: [dated] })).includes("rate_snapshot"));

      // A snapshot does not affect the checks of sources.
      assertEquals(await database.asService("read_rates_of_day", { day: "2026-11-20" }), {});

      // After ten days without a network, a day with a snapshot's rate is still not settled. If a source has no rate
      // for the day, the value stays provisional.
      for (let day = 21; day < 32; day++) {
        const at = new Date(Date.UTC(2026, 10, day)).toISOString();
        const asked = { day: "2026-11-20", is_answered: false, at };
        assertEquals(await database.asService("settle_day", asked), { settled: false });
      }
      await database.asService("settle_values", { after: null, size: 500 });
      assertEquals(codes(await books.call("list_expenses", MONTH)), ["rate_snapshot"]);

      await publish(database, "2026-11-20", "2.2");
      assertEquals(await everywhere(books, bill.id), "50.00");
      const asked = { day: "2026-11-20", is_answered: true, at: "2026-12-02T06:00:00Z" };
      assertEquals(await database.asService("settle_day", asked), { settled: true });
      await database.asService("settle_values", { after: null, size: 500 });
      assertEquals(codes(await books.call("list_expenses", MONTH)).includes("rate_snapshot"), false);
      assertEquals(codes(await books.call("get_context", { include: [] })), []);

      // A currency without any rate stays unconverted.
      const { results: [{ base_amount }] } = await books.ok("log_expenses", {
        items: [{ name: "Taxi", amount: "500", currency: "EGP" }],
      });
      assertEquals(base_amount, undefined);
    },

    "is final at once when its day's rate is known, or known to be unavailable": async (books, database) => {
      await addRate(database, "USD", "2026-11-13", "1.1");
      await settleDay(database, "2026-11-15");
      const items = ["2026-11-13", "2026-11-15", "2026-11-16"].map((date) => ({
        name: date,
        amount: "11",
        currency: "USD",
        date,
      }));
      const { warnings } = await books.call("log_expenses", { items });
      assertEquals(warnings.length, 1);
      assertMatch(warnings[0].message, /from 2026-11-16 on/);
    },

    "equals the bank's charge when the caller gives one": async (books, database) => {
      await addRate(database, "USD", "2026-11-20", "1.1");
      await addRate(database, "GBP", "2026-11-20", "0.8");
      const { bill, paid } = await payHosting(books, { charged: { amount: "101.37" } });
      assertEquals([paid.data.payment.base_amount, paid.data.payment.amount, codes(paid)], ["101.37", "110.00", []]);
      assertEquals(await everywhere(books, bill.id), "101.37");
      await books.ok("undo_change", { change_id: paid.change_id });
      assertEquals((await books.ok("list_expenses", MONTH)).rows, []);

      const pounds = { amount: "80", currency: "GBP" };
      const { results: [{ id, base_amount }] } = await books.ok("log_expenses", {
        items: [{ name: "Ticket", amount: "99", currency: "USD", charged: pounds }],
      });
      assertEquals([base_amount, await everywhere(books)], ["100.00", "100.00"]);
      assertEquals((await books.ok("list_expenses", MONTH)).rows[0].charged, { amount: "80.00", currency: "GBP" });
      // In the charge's currency, the value is the charge; in the payment's, the amount; in any other, the converted
      // charge.
      for (const [in_currency, amount] of [["GBP", "80.00"], ["USD", "99.00"]]) {
        assertEquals((await books.ok("summarize_spending", { ...MONTH, in_currency })).total.amount, amount);
      }

      const change = await books.call("update_expenses", { ids: [id], set: { charged: { amount: "97.50" } } });
      assertEquals(change.data.updated[0].before.charged, { amount: "80.00", currency: "GBP" });
      assertEquals(await everywhere(books), "97.50");
      const undone = await books.call("undo_change", { change_id: change.change_id });
      assertEquals(undone.ok, true);
      assertEquals(await everywhere(books), "100.00");
      await books.ok("update_expenses", { ids: [id], set: { charged: {} } });
      assertEquals(await everywhere(books), "90.00");
      // A charge belongs to its original amount. An amount in the base currency has no charge.
      await books.ok("update_expenses", { ids: [id], set: { charged: { amount: "97.50" } } });
      await books.ok("update_expenses", { ids: [id], set: { currency: "EUR" } });
      assertEquals((await books.ok("list_expenses", MONTH)).rows[0].charged, undefined);
      assertEquals(await everywhere(books), "99.00");
    },

    "keeps the bank's charge for another amount, with a warning": async (books, database) => {
      await addRate(database, "USD", "2026-11-20", "1.1");
      const kept = ({ warnings }: Json) =>
        warnings.filter(({ code }: Json) => code === "charge_kept").map(({ message }: Json) => message);
      const says = (field: string) => [
        `It still counts with 101.37 EUR, which the bank charged for the earlier amount. If the bank charged another sum ` +
        `for the new one, call again with ${field}.`,
      ];
      const charged = { amount: "101.37" };
      const { bill } = await payHosting(books, { charged });
      const pay = (more: Json) => books.call("mark_bill_paid", { bill_id: bill.id, due_on: "2026-11-20", ...more });
      assertEquals(kept(await pay({ amount: "120" })), says("charged"));
      assertEquals(kept(await pay({ note: "Card" })), []);
      assertEquals(kept(await pay({ amount: "121", charged })), []);

      const { results: [{ id }] } = await books.ok("log_expenses", {
        items: [{ name: "Ticket", amount: "99", currency: "USD", charged }],
      });
      const update = (set: Json) => books.call("update_expenses", { ids: [id], set });
      assertEquals(kept(await update({ amount: "89" })), says("set.charged"));
      assertEquals(kept(await update({ amount: "90", split: [{ amount: "40" }, {}] })), says("set.charged"));
      assertEquals(kept(await update({ note: "Card" })), []);
      assertEquals(kept(await update({ split: [{ amount: "90" }] })), []);
      assertEquals(kept(await update({ amount: "80", charged })), []);
      assertEquals(kept(await update({ amount: "70", charged: {} })), []);
      assertEquals(kept(await update({ amount: "75" })), []);
    },

    "needs no charge in its own or the base currency": async (books) => {
      const item = { name: "Lunch", amount: "10" };
      for (
        const [currency, charged] of [["EUR", { amount: "10.50", currency: "USD" }], ["EUR", { amount: "10.50" }], [
          "USD",
          { amount: "10.50", currency: "USD" },
        ]]
      ) {
        const error = await books.fails("invalid_argument", "log_expenses", {
          items: [{ ...item, currency, charged }],
        });
        assertEquals(error.field, "items[0].charged");
      }
      await books.fails("currency_unknown", "log_expenses", {
        items: [{ ...item, currency: "USD", charged: { amount: "1", currency: "XXX" } }],
      });
    },

    "is recomputed for another base currency and restored unchanged": async (books, database) => {
      await addRate(database, "USD", "2026-11-20", "1.25");
      await addRate(database, "GBP", "2026-11-20", "0.8");
      await books.ok("log_expenses", {
        items: [
          { name: "Euro", amount: "8" },
          { name: "Dollar", amount: "10", currency: "USD", charged: { amount: "8.20" } },
          { name: "Pound", amount: "4", currency: "GBP" },
          { name: "Baht", amount: "9", currency: "THB" },
        ],
      });
      const { results } = await books.ok("log_expenses", { items: [{ name: "Gone", amount: "16" }] });
      const deletion = await books.call("delete_records", { ids: [results[0].id] });
      const values = () =>
        database.query(
          `select currency, base_currency, base_minor, fx_rate, fx_rate_on, fx_source, is_final, version
         from app.payments where organization_id = $1 order by recorded_seq`,
          [books.organizationId],
        );
      const other = await books.join();
      const before = await values();
      assertEquals(before.map(({ base_minor }) => base_minor), [800, 820, 500, null, 1600]);

      const change = await books.call("update_settings", { base_currency: "USD" });
      assertEquals(change.data.revalued, { moved: 4, without_rate: 1, pending: 1 });
      assertMatch(change.warnings[0].message, /^4 payments are now valued in USD.* For 1 of them no rate is known yet/);
      // A charge in the former currency is converted; an amount in the new one is its own value.
      assertEquals((await values()).map(({ base_minor }) => base_minor), [1000, 1000, 625, null, 2000]);
      assertEquals((await books.ok("summarize_spending", MONTH)).total, { amount: "26.25", currency: "USD", count: 3 });

      await books.ok("undo_change", { change_id: change.change_id });
      assertEquals(await values(), before);
      await books.ok("undo_change", { change_id: deletion.change_id });
      assertEquals((await books.ok("summarize_spending", MONTH)).total.amount, "37.20");
      assert(other);
    },

    "of one organization changes no other organization's values": async (books, database) => {
      await addRate(database, "USD", "2026-11-20", "1.25");
      await books.ok("log_expenses", { items: [{ name: "Euro", amount: "8" }] });
      const before = await database.query(
        "select id, base_currency, base_minor from app.payments where organization_id <> $1 order by id",
        [books.organizationId],
      );
      assertEquals((await books.ok("update_settings", { base_currency: "USD" })).revalued.moved, 1);
      assertEquals(
        await database.query(
          "select id, base_currency, base_minor from app.payments where organization_id <> $1 order by id",
          [books.organizationId],
        ),
        before,
      );
    },

    "cannot be written by hand": async (books, database) => {
      await books.ok("log_expenses", { items: [{ name: "Euro", amount: "8" }] });
      await database.query("update app.payments set base_minor = 1, amount_minor = 900 where organization_id = $1", [
        books.organizationId,
      ]);
      assertEquals(await everywhere(books), "9.00");
    },
  }),
);
