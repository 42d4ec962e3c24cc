/** What people ask when a filter finds nothing: the answer must not pass for a fact, and says what would match. */
import { assertEquals } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import { addRate, type Books, openBooks } from "../_support/books.ts";

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

testBooks("what would match", { day: "2026-11-27" }, {
  "what did the Lisbon trip cost": async (books) => {
    await logged(books);
    const { total, no_match } = await books.ok("summarize_spending", { query: "lisbon" });
    assertEquals([total.amount, no_match.other_periods], ["0.00", [
      { month: "2026-05", count: 2, totals_by_currency: { EUR: "740.40" } },
    ]]);
  },

  "how often were we at the Trattoria this year?": async (books) => {
    await logged(books);
    const year = { from: "2026-01-01", to: "2026-12-31" };
    assertEquals(await askBoth(books, { ...year, payee: "Trattoria" }), [
      { similar_names: ["Trattoria Sole"] },
      { similar_names: ["Trattoria Sole"] },
    ]);
    for (const query of ["sole TRATTORIA", "muller cafe"]) {
      const [listed] = await askBoth(books, { ...year, query });
      assertEquals(listed, { similar_names: [query.includes("sole") ? "Trattoria Sole" : "Café Müller"] }, query);
    }
  },

  "what was that 79.99 thing?": async (books, database) => {
    await addRate(database, "USD", "2026-11-10", "1.14");
    await logged(books);
    const headphones = { name: "Headphones", date: "2026-11-10", amount: "79.99", currency: "USD" };
    assertEquals(
      (await askBoth(books, { from: "2026-11-01", to: "2026-11-27", min_amount: "79.99", max_amount: "79.99" })).map(
        (no_match) => no_match.in_own_currency,
      ),
      [[headphones], [headphones]],
    );
  },

  "nothing is said where something was found, or nothing would match": async (books, database) => {
    await logged(books);
    assertEquals(await askBoth(books, { query: "dinner", from: "2026-11-01", to: "2026-11-27" }), [
      undefined,
      undefined,
    ]);
    assertEquals(await askBoth(books, { query: "zebra", from: "2026-11-01", to: "2026-11-27" }), [
      undefined,
      undefined,
    ]);
    assertEquals(await askBoth(await openBooks(database, { day: "2026-11-27" }), { query: "lisbon" }), [
      undefined,
      undefined,
    ]);
  },

  "nobody hears of what is kept from them": async (books) => {
    await books.ok("update_settings", { category: { action: "create", name: "Payroll" } });
    await books.ok("update_settings", { category: { action: "make_private", name: "Payroll" } });
    await books.ok("log_expenses", {
      items: [{ name: "Eve", amount: "3200", category: "Payroll", date: "2026-05-12" }],
    });
    const member = await books.join();
    assertEquals((await askBoth(books, { query: "eve", from: "2026-11-01", to: "2026-11-27" }))[0].similar_names, [
      "Eve",
    ]);
    assertEquals(await askBoth(member, { query: "eve", from: "2026-11-01", to: "2026-11-27" }), [undefined, undefined]);
  },
});
