/** The chart's numbers agree with the other tools: as series, table and sentence. */
import { assertEquals, assertMatch } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import { addRate, type Books, type Json } from "../_support/books.ts";

const spend = (books: Books, items: [date: string, name: string, amount: string, category?: string][]) =>
  books.ok("log_expenses", {
    create_missing_categories: true,
    items: items.map(([date, name, amount, category]) => ({ date, name, amount, ...(category && { category }) })),
  });

testBooks("show_spending_chart", { day: "2026-10-06" }, {
  "lists categories largest first, with totals as in summarize_spending and an equally long comparison": async (
    books,
  ) => {
    await spend(books, [
      ["2026-10-01", "Rent", "900", "Housing"],
      ["2026-10-02", "Lunch", "14.50", "Food"],
      ["2026-10-06", "Dinner", "35.50", "Food"],
      ["2026-09-01", "Rent", "1000", "Housing"],
      ["2026-09-20", "Late", "5000", "Travel"],
    ]);
    const data = await books.ok("show_spending_chart", { chart: "by_category", period: "this_month" });
    assertEquals(data.series, [{
      label: "Spending",
      points: [{ x: "Housing", y: "900.00" }, { x: "Food", y: "50.00" }],
    }]);
    const { total } = await books.ok("summarize_spending", { period: "this_month" });
    assertEquals(data.total, { amount: total.amount, currency: "EUR", count: total.count });
    assertEquals(data.period, { from: "2026-10-01", to: "2026-10-31", words: "this month" });
    assertEquals(data.compared, {
      from: "2026-09-01",
      to: "2026-09-06",
      words: "at this point last month",
      amount: "1000.00",
      change_percent: -5,
    });
    assertEquals(
      data.table,
      "950.00 EUR this month, 5% less than at this point last month.\n\n" +
        "| Category | Amount (EUR) | Share |\n| --- | ---: | ---: |\n| Housing | 900.00 | 95% |\n| Food | 50.00 | 5% |",
    );
  },

  "shows the budgets of a whole month or year, even without spending": async (books) => {
    await spend(books, [
      ["2026-10-02", "Lunch", "36", "Food"],
      ["2026-10-02", "Bus", "7", "Transport"],
      ["2026-09-02", "Bus", "120", "Transport"],
    ]);
    const set = (budget: Json) => books.ok("update_settings", { budget: { action: "set", ...budget } });
    await set({ category: "Food", amount: "50" });
    await set({ category: "Transport", amount: "100", carry_over: true });
    await set({ category: "Travel", amount: "20" });
    await set({ amount: "200", per: "year" });
    await set({ category: "Food", amount: "300", per: "year" });
    const month = await books.ok("show_spending_chart", {});
    assertEquals(month.series[0].points, [
      { x: "Food", y: "36.00", budget: { amount: "50.00", used_percent: 72 } },
      { x: "Transport", y: "7.00", budget: { amount: "100.00", used_percent: 7 } },
      { x: "Travel", y: "0.00", budget: { amount: "20.00", used_percent: 0 } },
    ]);
    assertEquals([month.total.amount, month.budget, month.table.split("\n").slice(2)], ["43.00", undefined, [
      "| Category | Amount (EUR) | Share | Budget |",
      "| --- | ---: | ---: | --- |",
      "| Food | 36.00 | 84% | 72% of 50.00 EUR |",
      "| Transport | 7.00 | 16% | 7% of 100.00 EUR |",
      "| Travel | 0.00 | 0% | 0% of 20.00 EUR |",
    ]]);
    const year = await books.ok("show_spending_chart", { from: "2026-01-01", to: "2026-12-31" });
    assertEquals([year.budget, year.series[0].points.map(({ budget }: Json) => budget?.amount)], [
      { amount: "200.00", used_percent: 81 },
      [undefined, "300.00"],
    ]);
    assertEquals(year.table.split("\n")[0], "163.00 EUR from 2026-01-01 to 2026-12-31. Budget: 81% of 200.00 EUR.");
    const september = await books.ok("show_spending_chart", { period: "last_month", categories: ["Transport"] });
    assertEquals(september.series[0].points, [
      { x: "Transport", y: "120.00", budget: { amount: "100.00", used_percent: 120, set_on: "2026-10-06" } },
    ]);
    assertMatch(september.table, /\| 120% of 100\.00 EUR, set on 2026-10-06 \|/);
    // A partial month, several months, and another currency have no budget.
    for (
      const args of [
        { from: "2026-10-01", to: "2026-10-30" },
        { period: "last_12_months" },
        { period: "this_quarter" },
        {
          in_currency: "USD",
        },
        { chart: "over_time" },
      ]
    ) {
      const data = await books.ok("show_spending_chart", args);
      assertEquals(JSON.stringify(data).includes("budget"), false, JSON.stringify(args));
    }
    books.goTo("2026-11-03");
    await spend(books, [["2026-11-02", "Bus", "186", "Transport"]]);
    const november = await books.ok("show_spending_chart", {});
    assertEquals(november.series[0].points[0].budget, { amount: "193.00", used_percent: 96 });
  },

  "names the first day of the books instead of comparing with an earlier period": async (books) => {
    await spend(books, [["2025-04-29", "A", "10"], ["2025-11-03", "B", "21"]]);
    const data = await books.ok("show_spending_chart", { chart: "over_time", period: "last_12_months" });
    assertEquals(data.compared, undefined);
    assertEquals(data.table.split("\n")[0], "21.00 EUR in the last 12 months; the books begin on 2025-04-29.");
  },

  "shows every step over time, even those without a payment": async (books) => {
    await spend(books, [["2026-10-01", "A", "1"], ["2026-10-04", "B", "2.50"], ["2026-08-31", "C", "4"]]);
    const month = await books.ok("show_spending_chart", { chart: "over_time" });
    assertEquals([month.unit, month.series[0].points.map(({ x, y }: Json) => `${x.slice(8)} ${y}`)], [
      "day",
      ["01 1.00", "02 0.00", "03 0.00", "04 2.50", "05 0.00", "06 0.00"],
    ]);
    const year = await books.ok("show_spending_chart", { chart: "over_time", period: "this_year" });
    assertEquals([year.unit, year.series[0].points.length, year.series[0].points[7]], ["month", 10, {
      x: "2026-08",
      y: "4.00",
    }]);
    const quarter = await books.ok("show_spending_chart", { chart: "over_time", from: "2026-08-01", to: "2026-10-06" });
    assertEquals([quarter.unit, quarter.series[0].points[0].x, quarter.series[0].points.length], [
      "week",
      "2026-07-27",
      11,
    ]);
    assertEquals(quarter.table.split("\n").slice(0, 4), [
      "7.50 EUR from 2026-08-01 to 2026-10-06.",
      "",
      "| Week from | Amount (EUR) |",
      "| --- | ---: |",
    ]);
  },

  "shows five categories over time and the rest, which add up": async (books) => {
    await spend(
      books,
      ["Aa", "Bb", "Cc", "Dd", "Ee", "Ff", "Gg"].map((name, i) => ["2026-10-02", name, `${10 - i}`, name]),
    );
    const data = await books.ok("show_spending_chart", { chart: "category_over_time" });
    assertEquals(data.series.map(({ label }: Json) => label), ["Aa", "Bb", "Cc", "Dd", "Ee", "Other"]);
    assertEquals(data.series.map(({ points }: Json) => points.length), [6, 6, 6, 6, 6, 6]);
    const [head, , row] = data.table.split("\n").slice(2, 5).map((line: string) => line.split(" | ").length);
    assertEquals([head, row], [8, 8]);
    const sum = data.series.flatMap(({ points }: Json) => points).reduce(
      (all: number, { y }: Json) => all + Number(y),
      0,
    );
    assertEquals([sum, data.total.amount], [49, "49.00"]);
  },

  "shows bills a month ahead at today's rates, including overdue ones": async (books, database) => {
    await addRate(database, "USD", "2026-10-05", "1.25");
    books.goTo("2026-09-28");
    await books.ok("add_bill", { name: "Rent", amount: "900", month_days: [1] });
    books.goTo("2026-10-06");
    await books.ok("add_bill", { name: "Tool", amount: "10", currency: "USD", month_days: [20] });
    await books.ok("add_bill", { name: "Power", amount_mode: "variable", month_days: [15] });
    const { data, warnings } = await books.call("show_spending_chart", { chart: "upcoming_bills" });
    assertEquals(
      data.series.map(({ label, points }: Json) => [label, points.map(({ x, y, overdue }: Json) => [x, y, overdue])]),
      [
        ["Rent", [["2026-10-01", "900.00", true], ["2026-11-01", "900.00", undefined]]],
        ["Tool", [["2026-10-20", "8.00", undefined]]],
      ],
    );
    assertEquals(data.total, { amount: "1808.00", currency: "EUR", count: 3, overdue: 1 });
    assertEquals(data.table.split("\n")[0], "1808.00 EUR due by 2026-11-05, 1 of 3 dates overdue.");
    assertEquals(warnings.map(({ code }: Json) => code), ["amount_missing"]);
  },

  "shows a daily bill on one line, both overdue and upcoming": async (books) => {
    books.goTo("2026-10-04");
    await books.ok("add_bill", { name: "Rolls", amount: "3.80", frequency: "daily", first_due: "2026-10-04" });
    await books.ok("add_bill", { name: "Rent", amount: "900", month_days: [8] });
    books.goTo("2026-10-06");
    const { series, total, table } = await books.ok("show_spending_chart", {
      chart: "upcoming_bills",
      to: "2026-10-12",
    });
    assertEquals(series.map(({ label, points }: Json) => [label, points]), [
      ["Rolls", [
        { x: "2026-10-04", y: "7.60", overdue: true, dates: 2, to: "2026-10-05" },
        { x: "2026-10-06", y: "26.60", dates: 7, to: "2026-10-12" },
      ]],
      ["Rent", [{ x: "2026-10-08", y: "900.00" }]],
    ]);
    assertEquals(total, { amount: "934.20", currency: "EUR", count: 10, overdue: 2 });
    assertEquals(table.split("\n").slice(4), [
      "| 2026-10-04 to 2026-10-05 (overdue) | Rolls (2 ×) | 7.60 |",
      "| 2026-10-06 to 2026-10-12 | Rolls (7 ×) | 26.60 |",
      "| 2026-10-08 | Rent | 900.00 |",
    ]);
  },

  "marks partial months and weeks": async (books) => {
    await spend(books, [["2026-10-01", "A", "1"]]);
    const partial = async (args: Json) =>
      (await books.ok("show_spending_chart", { chart: "over_time", ...args })).series[0].points
        .filter((point: Json) => point.partial).map(({ x }: Json) => x);
    assertEquals(await partial({ period: "last_12_months" }), ["2025-10", "2026-10"]);
    assertEquals(await partial({ period: "this_year" }), ["2026-10"]);
    assertEquals(await partial({}), []);
    assertEquals(await partial({ from: "2026-07-06", to: "2026-10-04" }), []);
    assertEquals(await partial({ from: "2026-07-07", to: "2026-10-04" }), ["2026-07-06"]);
    const { table } = await books.ok("show_spending_chart", { chart: "over_time", period: "this_year" });
    assertEquals(table.split("\n").at(-1), "| 2026-10 (part) | 1.00 |");
    books.goTo("2026-10-31");
    assertEquals(await partial({ period: "this_year" }), []);
  },

  "reports empty periods and unconverted amounts": async (books) => {
    const empty = await books.ok("show_spending_chart", { chart: "by_category" });
    assertEquals([empty.table, empty.total.amount], ["Nothing spent this month.", "0.00"]);
    assertEquals((await books.ok("show_spending_chart", { chart: "over_time" })).table, "Nothing spent this month.");
    assertEquals((await books.ok("show_spending_chart", { chart: "category_over_time" })).series, []);
    assertEquals(
      (await books.ok("show_spending_chart", { chart: "upcoming_bills" })).table,
      "Nothing due by 2026-11-05.",
    );
    await books.ok("log_expenses", { items: [{ name: "Far", amount: "5", currency: "JPY" }] });
    const { data, warnings } = await books.call("show_spending_chart", {});
    assertEquals([data.unconverted, warnings[0].code], [[{ currency: "JPY", amount: "5", count: 1 }], "rate_missing"]);
    assertEquals(data.table, "5 JPY this month, without a known exchange rate to EUR.");
    await books.ok("add_bill", { name: "Rent", amount: "48000", currency: "JPY", first_due: "2026-10-10" });
    assertEquals(
      (await books.ok("show_spending_chart", { chart: "upcoming_bills", to: "2026-10-31" })).table,
      "48000 JPY due by 2026-10-31, without a known exchange rate to EUR.",
    );
    await books.ok("add_bill", { name: "Water", amount_mode: "variable", first_due: "2026-11-02" });
    assertEquals(
      (await books.ok("show_spending_chart", { chart: "upcoming_bills", from: "2026-11-01", to: "2026-11-09" })).table,
      "Water due by 2026-11-09, amount not known yet.",
    );
  },

  "keeps typed text inside its cell": async (books) => {
    await spend(books, [["2026-10-02", "x", "1", "a|b `c` [d](e) <i>"]]);
    const { table } = await books.ok("show_spending_chart", {});
    assertEquals(table.split("\n")[4], "| a\\|b \\`c\\` \\[d\\](e) \\<i\\> | 1.00 | 100% |");
  },

  "refuses a category that does not exist, and more than ten years": async (books) => {
    await books.fails("category_not_found", "show_spending_chart", { categories: ["Fod"] });
    await books.fails("date_out_of_range", "show_spending_chart", { from: "2000-01-01", to: "2026-01-01" });
    await books.fails("date_out_of_range", "show_spending_chart", { chart: "upcoming_bills", to: "2099-01-01" });
  },
});
