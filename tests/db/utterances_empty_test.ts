/** Questions whose filter matches nothing: the answer lists near matches and must not look like a fact. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import { addRate, type Books, type Json, openBooks } from "../_support/books.ts";

const logged = (books: Books) =>
  books.ok("log_expenses", {
    items: [
      { name: "Hotel Lisbon", amount: "640.40", date: "2026-05-12" },
      { name: "Train", note: "Lisbon", amount: "100.00", date: "2026-05-14" },
      { name: "Dinner", payee: "Trattoria Sole", amount: "58.00", date: "2026-11-14" },
      { name: "Café Müller", amount: "4.20", date: "2026-11-15" },
      { name: "Headphones", amount: "79.99", currency: "USD", date: "2026-11-10" },
    ],
  });
const askBoth = async (books: Books, filter: Record<string, unknown>) => [
  (await books.ok("list_expenses", filter)).no_match,
  (await books.ok("summarize_spending", filter)).no_match,
];

testBooks("an empty result suggests near matches", { day: "2026-11-27" }, {
  "what did the Lisbon trip cost": async (books) => {
    await logged(books);
    const { total, no_match } = await books.ok("summarize_spending", { query: "lisbon" });
    assertEquals([total.amount, no_match.other_periods], ["0.00", [
      { month: "2026-05", count: 2, totals_by_currency: { EUR: "740.40" } },
    ]]);
  },

  "¿cuánto gastamos en marzo de 2024?": async (books) => {
    await logged(books);
    const begin = async (to: string) =>
      (await books.ok("summarize_spending", { from: "2024-03-01", to })).no_match?.books_begin;
    assertEquals([await begin("2024-03-31"), await begin("2026-05-11"), await begin("2026-05-12")], [
      "2026-05-12",
      "2026-05-12",
      undefined,
    ]);
  },

  "how often were we at the Trattoria this year?": async (books) => {
    await logged(books);
    const year = { from: "2026-01-01", to: "2026-12-31" };
    assertEquals(await askBoth(books, { ...year, payee: "Trattoria" }), [
      { similar_names: ["Trattoria Sole"] },
      { similar_names: ["Trattoria Sole"] },
    ]);
    assertEquals((await askBoth(books, { ...year, payee: "Tratoria" }))[0], { similar_names: ["Trattoria Sole"] });
    assertEquals((await askBoth(books, { ...year, query: "grocery" }))[0], { similar_categories: ["Groceries"] });
  },

  "was kostet die Heizung im Jahr?": async (books) => {
    await logged(books);
    for (const name of ["Heating", "Rent"]) await books.ok("add_bill", { name, amount: "10", first_due: "2026-12-05" });
    for (const no_match of await askBoth(books, { query: "Heizung" })) {
      assertEquals([no_match.nothing_resembles, no_match.bills], ["heizung", ["Heating", "Rent"]]);
      assertEquals([no_match.categories.includes("Utilities"), no_match.categories.length], [true, 16]);
    }
    assertEquals(await askBoth(books, { min_amount: "9999" }), [undefined, undefined], "without words");
  },

  "what was that 79.99 thing?": async (books, database) => {
    await addRate(database, "USD", "2026-11-10", "1.14");
    await logged(books);
    const november = { from: "2026-11-01", to: "2026-11-27" };
    for (const amount of ["79.99", "70.17"]) {
      const { rows } = await books.ok("list_expenses", { ...november, min_amount: amount, max_amount: amount });
      assertEquals(rows.map(({ name }: Json) => name), ["Headphones"], amount);
    }
    const headphones = { name: "Headphones", date: "2026-11-10", amount: "79.99", currency: "USD" };
    const asked = { ...november, min_amount: "79.99", max_amount: "79.99", currency: "EUR" };
    assertEquals((await askBoth(books, asked)).map(({ other_currencies }) => other_currencies), [[headphones], [
      headphones,
    ]]);
    await books.ok("log_expenses", { items: [{ name: "Ramen", amount: "1200", currency: "JPY", date: "2026-11-11" }] });
    const yen = await books.call("list_expenses", { ...november, min_amount: "1200", max_amount: "1200" });
    assertEquals([yen.data.rows.map(({ name }: Json) => name), yen.warnings], [["Ramen"], []]);
  },

  "the words of a query match in any order and any field, whatever their case and accents": async (books) => {
    await logged(books);
    await books.ok("log_expenses", {
      items: [{ name: "Straßenbahn", payee: "BVG", note: "100% Erstattung", amount: "3.80" }],
    });
    for (
      const [query, name] of [
        ["sole TRATTORIA", "Dinner"],
        ["muller cafe", "Café Müller"],
        ["erstattung strassenbahn bvg", "Straßenbahn"],
        ["erstattung 100%", "Straßenbahn"],
        ["lisbon train", "Train"],
        ["10_%", undefined],
      ]
    ) {
      const { rows } = await books.ok("list_expenses", { query });
      assertEquals(rows.map((row: Json) => row.name), name ? [name] : [], query);
    }
  },

  "der Strom wird teurer": async (books) => {
    for (const [name, status] of [["Electricity", "active"], ["Gym", "active"], ["Spotify Duo", "paused"]]) {
      const { bill } = await books.ok("add_bill", { name, amount: "10", first_due: "2026-12-05" });
      if (status === "paused") await books.ok("update_bill", { bill_id: bill.id, set: { status } });
    }
    const near = async (query: string) => (await books.ok("list_bills", { query })).no_match;
    const { bills } = await books.ok("list_bills", { query: "Strom" });
    assertEquals(bills.map(({ name }: Json) => name), ["Electricity"]);
    assertEquals([await near("Kabel"), await near("duo spotify"), await near("gym")], [
      {
        bills: [
          { name: "Electricity", status: "active" },
          { name: "Gym", status: "active" },
          { name: "Spotify Duo", status: "paused" },
        ],
      },
      { bills: [{ name: "Spotify Duo", status: "paused" }] },
      undefined,
    ]);
    const { details } = await books.fails("not_found", "mark_bill_paid", { bill_name: "Strom" });
    assertEquals([details.suggestions, details.bills.length, details.bill_count], [[], 3, undefined]);
  },

  "czynsz, in books with very many bills": async (books) => {
    for (let i = 0; i < 61; i++) {
      await books.ok("add_bill", { name: `Bill ${i}`, amount: "10", first_due: "2026-12-05" });
    }
    const { details, hint } = await books.fails("not_found", "mark_bill_paid", { bill_name: "czynsz" });
    assertEquals([details.bills.length, details.bill_count], [60, 61]);
    assertStringIncludes(hint, "details.bills names 60 of the 61 bills");
  },

  "no hint appears when a row was found or none would match": async (books, database) => {
    await logged(books);
    assertEquals(await askBoth(books, { query: "dinner", from: "2026-11-01", to: "2026-11-27" }), [
      undefined,
      undefined,
    ]);
    assertEquals(await askBoth(books, { min_amount: "9999", from: "2026-11-01", to: "2026-11-27" }), [
      undefined,
      undefined,
    ]);
    const empty = await askBoth(await openBooks(database, { day: "2026-11-27" }), { query: "lisbon" });
    assertEquals(empty.map((hints) => Object.keys(hints).toSorted()), [
      ["categories", "nothing_resembles"],
      ["categories", "nothing_resembles"],
    ]);
  },

  "hints never reveal hidden records": async (books) => {
    await books.ok("update_settings", { category: { action: "create", name: "Payroll" } });
    await books.ok("update_settings", { category: { action: "make_private", name: "Payroll" } });
    await books.ok("log_expenses", {
      items: [{ name: "Eve", amount: "3200", category: "Payroll", date: "2026-05-12" }],
    });
    const member = await books.join();
    assertEquals(
      (await askBoth(books, { query: "eve", from: "2026-11-01", to: "2026-11-27" }))[0].other_periods.length,
      1,
    );
    assertEquals((await askBoth(books, { payee: "eva" }))[0], { similar_names: ["Eve"] });
    for (const filter of [{ payee: "eva" }, { query: "eve", from: "2026-11-01", to: "2026-11-27" }]) {
      for (const hints of await askBoth(member, filter)) {
        assertEquals(Object.keys(hints).toSorted(), ["categories", "nothing_resembles"]);
        assertEquals(hints.categories.includes("Payroll"), false);
      }
    }
  },
});
