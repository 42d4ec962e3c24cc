/** Budgets are set, read, carried over, changed, removed and undone. */
import { assertEquals } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import { addRate, type Books, type Json, openBooks } from "../_support/books.ts";

const TODAY = "2026-10-06";

const set = (books: Books, budget: Json) => books.ok("update_settings", { budget: { action: "set", ...budget } });
const remove = (books: Books, budget: Json) =>
  books.call("update_settings", { budget: { action: "remove", ...budget } });
const budgets = async (books: Books, question: Json = {}) =>
  (await books.ok("summarize_spending", question)).budgets as Json[] | undefined;
const left = async (books: Books, question: Json = {}) =>
  (await budgets(books, question))?.map((budget) => [budget.category ?? "*", budget.per, budget.left]);
const log = (books: Books, ...items: Json[]) => books.ok("log_expenses", { items, on_duplicate: "allow" });
const travel = (amount: string, date: string) => ({ name: "Train", category: "Travel", amount, date });

testBooks("budgets", { day: TODAY }, {
  "report the rest of the current month and year": async (books) => {
    await log(books, travel("80", "2026-10-02"), travel("99", "2026-09-30"), { name: "Lunch", amount: "20" });
    await set(books, { category: "Travel", amount: "200" });
    await set(books, { category: "travel", amount: "1000", per: "year" });
    await set(books, { amount: "90" });
    assertEquals(await budgets(books), [
      {
        per: "month",
        from: "2026-10-01",
        to: "2026-10-31",
        amount: "90.00",
        currency: "EUR",
        spent: "100.00",
        left: "-10.00",
        used_percent: 111,
      },
      {
        category: "Travel",
        per: "month",
        from: "2026-10-01",
        to: "2026-10-31",
        amount: "200.00",
        currency: "EUR",
        spent: "80.00",
        left: "120.00",
        used_percent: 40,
      },
      {
        category: "Travel",
        per: "year",
        from: "2026-01-01",
        to: "2026-12-31",
        amount: "1000.00",
        currency: "EUR",
        spent: "179.00",
        left: "821.00",
        used_percent: 17,
      },
    ]);
  },

  "are named by the write that brings them to 80 or 100 percent": async (books) => {
    const reached = async (...items: Json[]) =>
      (await books.call("log_expenses", { items, on_duplicate: "allow" })).warnings.filter(({ code }: Json) =>
        code === "budget_reached"
      ).map(({ message }: Json) => message);
    await set(books, { category: "Travel", amount: "100" });
    await set(books, { amount: "200" });
    assertEquals(await reached(travel("79.99", TODAY), travel("50", "2026-09-30")), []);
    assertEquals(await reached(travel("0.01", TODAY)), [
      "The monthly budget for Travel is nearly used up: 80.00 of 100.00 EUR spent.",
    ]);
    assertEquals(await reached(travel("1", TODAY)), []);
    assertEquals(await reached(travel("99", TODAY), { name: "Lunch", amount: "20" }), [
      "The monthly budget for everything is used up: 200.00 of 200.00 EUR spent. " +
      "The monthly budget for Travel is used up: 180.00 of 100.00 EUR spent.",
    ]);
    assertEquals(await reached(travel("1", TODAY)), [
      "The monthly budget for everything is used up: 201.00 of 200.00 EUR spent. " +
      "The monthly budget for Travel is used up: 181.00 of 100.00 EUR spent.",
    ]);
    assertEquals(await reached({ ...travel("91", TODAY), is_refund: true }), []);
    const [part, rest] = [{ amount: "10", category: "Travel" }, { category: "Food" }];
    assertEquals(await reached({ name: "Trip", amount: "30", split: [part, rest] }), [
      "The monthly budget for Travel is used up: 100.00 of 100.00 EUR spent.",
    ]);
  },

  "in a former base currency are named by the write that brings them to 80 percent": async (books, database) => {
    await addRate(database, "USD", "2026-10-05", "1.25");
    await set(books, { category: "Travel", amount: "100" });
    await books.ok("update_settings", { base_currency: "USD" });
    const reached = async (item: Json) =>
      (await books.call("log_expenses", { items: [{ ...travel("99", "2026-10-06"), ...item }] })).warnings
        .filter(({ code }: Json) => code === "budget_reached").map(({ message }: Json) => message);
    assertEquals(await reached({ currency: "USD" }), []);
    assertEquals(await reached({ amount: "0.80", currency: "EUR" }), [
      "The monthly budget for Travel is nearly used up: 80.00 of 100.00 EUR spent.",
    ]);
    assertEquals(await reached({ amount: "1" }), []);
  },

  "are filtered by month and category": async (books) => {
    await log(books, travel("80", "2026-10-02"), travel("99", "2026-09-30"));
    await set(books, { category: "Travel", amount: "200" });
    await set(books, { category: "Food", amount: "50" });
    await set(books, { amount: "500" });
    assertEquals(await left(books, { period: "last_month", categories: ["Travel"] }), [["Travel", "month", "101.00"]]);
    assertEquals(await left(books, { categories: ["Food"] }), [["Food", "month", "50.00"]]);
    assertEquals(await left(books, { categories: ["Uncategorized"] }), undefined);
    // The budget did not exist in that period.
    assertEquals((await budgets(books, { period: "last_month" }))!.map(({ set_on }) => set_on), [TODAY, TODAY, TODAY]);
    assertEquals((await budgets(books))!.map(({ set_on }) => set_on), [undefined, undefined, undefined]);
    // Payees and amount ranges can't have a budget.
    assertEquals(await left(books, { payee: "Rail" }), undefined);
  },

  "carry over unspent and overspent amounts": async (books) => {
    await log(books, travel("80", "2026-10-02"));
    await set(books, { category: "Travel", amount: "200", carry_over: true });
    books.goTo("2026-11-20");
    await log(books, travel("450", "2026-11-03"));
    const [november] = (await budgets(books))!;
    assertEquals([november!.carried, november!.spent, november!.left], ["120.00", "450.00", "-130.00"]);
    books.goTo("2027-01-02");
    const [january] = (await budgets(books))!;
    // 3 x 200 were granted by December, 530 were spent; January adds 200.
    assertEquals([january!.carried, january!.left, january!.used_percent], ["70.00", "270.00", 0]);
  },

  "convert other currencies and report missing rates": async (books, database) => {
    await addRate(database, "USD", "2026-10-05", "1.25");
    await log(books, { ...travel("50", "2026-10-06"), currency: "USD" });
    await set(books, { category: "Travel", amount: "100" });
    assertEquals((await budgets(books))![0]!.left, "60.00");
    await log(books, { ...travel("50", "2026-10-06"), currency: "CHF" });
    const [budget] = (await budgets(books))!;
    assertEquals([budget!.left, budget!.is_partial], ["60.00", true]);
    // A category filter reports its own budget, and no other.
    await log(books, { name: "Fondue", category: "Food", amount: "30", currency: "CHF" });
    await set(books, { category: "Food", amount: "100" });
    await set(books, { category: "Housing", amount: "100" });
    assertEquals((await budgets(books))!.map(({ category, is_partial }) => [category, is_partial]), [
      ["Food", true],
      ["Housing", undefined],
      ["Travel", true],
    ]);
  },

  "are set once each, changed in place, and undone": async (books) => {
    await set(books, { category: "Travel", amount: "200", carry_over: true });
    const again = await books.call("update_settings", { budget: { action: "set", category: "Travel", amount: "300" } });
    assertEquals(again.data.budgets.map(({ amount }: Json) => amount), ["300.00"]);
    const { undone, reversed } = await books.ok("undo_change", { change_id: again.change_id });
    assertEquals(undone.summary, "Set the monthly budget for Travel to 300.00 EUR");
    assertEquals(reversed.map(({ what }: Json) => what), ["The monthly budget for Travel: amount changed back"]);
    assertEquals(await left(books), [["Travel", "month", "200.00"]]);
  },

  "carry over the rest when the amount changes": async (books) => {
    await set(books, { category: "Travel", amount: "400", carry_over: true });
    const carried = async () => (await budgets(books))!.map(({ amount, carried, left }) => [amount, carried, left]);
    await log(books, travel("400", "2026-10-05"));
    books.goTo("2026-11-05");
    await log(books, travel("350", "2026-11-05"));
    books.goTo("2026-12-05");
    assertEquals(await carried(), [["400.00", "50.00", "450.00"]]);
    const raised = await books.call("update_settings", {
      budget: { action: "set", category: "Travel", amount: "500" },
    });
    assertEquals(await carried(), [["500.00", "50.00", "550.00"]]);
    // November's amount is not stored.
    assertEquals(await budgets(books, { period: "last_month" }), undefined);
    await set(books, { category: "Travel", amount: "300" });
    assertEquals(await carried(), [["300.00", "50.00", "350.00"]]);
    await log(books, travel("600", "2026-12-05"));
    books.goTo("2027-01-05");
    assertEquals(await carried(), [["300.00", "-250.00", "50.00"]]);
    // From the moment when it is switched on.
    await set(books, { category: "Travel", amount: "300", carry_over: false });
    await set(books, { category: "Travel", amount: "300", carry_over: true });
    assertEquals(await carried(), [["300.00", "0.00", "300.00"]]);
    books.goTo("2027-02-05");
    assertEquals(await carried(), [["300.00", "300.00", "600.00"]]);
    assertEquals(raised.ok, true);
  },

  "restore the carry-over when an amount is undone": async (books) => {
    await set(books, { category: "Travel", amount: "400", carry_over: true });
    books.goTo("2026-11-05");
    const raised = await books.call("update_settings", {
      budget: { action: "set", category: "Travel", amount: "500" },
    });
    const { reversed } = await books.ok("undo_change", { change_id: raised.change_id });
    assertEquals(reversed.map(({ what }: Json) => what), [
      "The monthly budget for Travel: amount, carry-over, first period changed back",
    ]);
    assertEquals(await left(books), [["Travel", "month", "800.00"]]);
    assertEquals(await left(books, { period: "last_month" }), [["Travel", "month", "400.00"]]);
  },

  "are removed, and the removal is undone": async (books) => {
    await set(books, { amount: "200", per: "year" });
    const removed = await remove(books, { per: "year" });
    assertEquals([removed.data.budgets, await left(books)], [[], undefined]);
    await books.ok("undo_change", { change_id: removed.change_id });
    assertEquals(await left(books), [["*", "year", "200.00"]]);
  },

  "of an archived category are not shown": async (books) => {
    await set(books, { category: "Travel", amount: "200" });
    await books.ok("update_settings", { category: { action: "archive", name: "Travel" } });
    assertEquals(await left(books), undefined);
    const { error } = await remove(books, { category: "Travel" });
    assertEquals([error.code, error.field], ["category_not_found", "budget.category"]);
  },

  "refuse missing arguments with a hint": async (books) => {
    const none = await remove(books, { category: "Food" });
    assertEquals([none.error.code, none.error.message], ["not_found", "There is no monthly budget for Food."]);
    const { error } = await books.call("update_settings", { budget: { action: "set", category: "Food" } });
    assertEquals([error.code, error.field], ["invalid_argument", "budget.amount"]);
  },

  "are invisible to other organizations": async (books, database) => {
    await set(books, { category: "Food", amount: "200" });
    const others = await openBooks(database, { day: TODAY });
    assertEquals(await left(others), undefined);
    await set(others, { category: "Food", amount: "30" });
    assertEquals([await left(books), await left(others)], [[["Food", "month", "200.00"]], [[
      "Food",
      "month",
      "30.00",
    ]]]);
  },
});
