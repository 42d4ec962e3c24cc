/** The text chart for hosts that draw nothing: one sentence and a table. */
import { assertEquals } from "@std/assert";
import { presentData } from "../../../../functions/mcp/present/data.ts";
import type { Facts } from "../../../../shared/words/message.ts";
import { en } from "../../../../shared/words/en/mod.ts";
import { assertNothingMissing } from "../../../_support/books.ts";

function presented(facts: Facts): Facts {
  const data = presentData("show_spending_chart", { currency: "EUR", unconverted: [], ...facts }, en);
  assertNothingMissing(data);
  return data;
}

const total = { amount: "50.00", currency: "EUR", count: 3 };
const period = { from: "2026-11-01", to: "2026-11-30", name: "this_month" };
const compared = { from: "2026-10-01", to: "2026-10-20", amount: "52.63", change_percent: -5, whole_percent: -5 };

Deno.test("by_category: unnamed groups get a name, and shares stay out of the series", () => {
  const { series, table, period: shown, compared: before } = presented({
    chart: "by_category",
    period,
    series: [{
      points: [{ x: "Food|x", y: "40.00", share: 80 }, { y: "9.00", share: 18 }, { is_rest: true, y: "-1.00" }],
    }],
    total,
    compared,
  });
  assertEquals(series, [{
    label: "Spending",
    points: [{ x: "Food|x", y: "40.00" }, { x: "Uncategorized", y: "9.00" }, { x: "Other", y: "-1.00" }],
  }]);
  assertEquals(table.split("\n"), [
    "50.00 EUR this month, 5% less than by this day last month.",
    "",
    "| Category | Amount (EUR) | Share |",
    "| --- | ---: | ---: |",
    "| Food\\|x | 40.00 | 80% |",
    "| Uncategorized | 9.00 | 18% |",
    "| Other | -1.00 |  |",
  ]);
  assertEquals([shown, before], [
    { from: "2026-11-01", to: "2026-11-30", words: "this month" },
    { from: "2026-10-01", to: "2026-10-20", amount: "52.63", change_percent: -5, words: "by this day last month" },
  ]);
});

Deno.test("over time: a column per step, with the total of several series", () => {
  const points = (...amounts: string[]) =>
    amounts.map((y, n) => ({ x: `2026-1${n}`, y, ...(n === 1 && { partial: true }) }));
  const alone = presented({
    chart: "over_time",
    unit: "month",
    period,
    series: [{ points: points("1.00", "2.00") }],
    step_totals: ["1.00", "2.00"],
    total,
  });
  assertEquals(alone.table.split("\n").slice(2), [
    "| Month | Amount (EUR) |",
    "| --- | ---: |",
    "| 2026-10 | 1.00 |",
    "| 2026-11 (part) | 2.00 |",
  ]);
  assertEquals([alone.series[0].label, "step_totals" in alone], ["Spending", false]);
  const several = presented({
    chart: "category_over_time",
    unit: "week",
    period: { from: "2026-11-01", to: "2026-11-10" },
    series: [{ label: "Food", points: points("1.00") }, { points: points("2.00") }, {
      is_rest: true,
      points: points("3.00"),
    }],
    step_totals: ["6.00"],
    total,
    books_begin: "2026-10-05",
  });
  assertEquals(several.table.split("\n"), [
    "50.00 EUR from 2026-11-01 to 2026-11-10; the books begin on 5 October 2026.",
    "",
    "| Week from | Food | Uncategorized | Other | Total (EUR) |",
    "| --- | ---: | ---: | ---: | ---: |",
    "| 2026-10 | 1.00 | 2.00 | 3.00 | 6.00 |",
  ]);
});

Deno.test("upcoming_bills: in date order, with overdue and daily bills marked", () => {
  const series = [
    { label: "Rolls", bill_id: "bill_1", points: [{ x: "2026-11-21", y: "18.00", dates: 9, to: "2026-11-29" }] },
    {
      label: "Rent",
      bill_id: "bill_2",
      points: [{ x: "2026-11-01", y: "900.00", overdue: true }, { x: "2026-12-01", y: "900.00" }],
    },
  ];
  const { table, period: shown } = presented({
    chart: "upcoming_bills",
    unit: "day",
    period: { from: "2026-11-01", to: "2026-12-01" },
    series,
    total: { amount: "1818.00", currency: "EUR", count: 11, overdue: 1 },
  });
  assertEquals(table.split("\n"), [
    "1818.00 EUR due until 2026-12-01, 1 of 11 dates overdue.",
    "",
    "| Due | Bill | Amount (EUR) |",
    "| --- | --- | ---: |",
    "| 2026-11-01 (overdue) | Rent | 900.00 |",
    "| 2026-11-21 to 2026-11-29 | Rolls (9 ×) | 18.00 |",
    "| 2026-12-01 | Rent | 900.00 |",
  ]);
  assertEquals(shown.words, "due until 2026-12-01");
});

Deno.test("where nothing was spent, or is due, there is no table", () => {
  const none = { amount: "0.00", currency: "EUR", count: 0 };
  assertEquals(
    presented({ chart: "by_category", period, series: [{ points: [] }], total: none }).table,
    "Nothing spent this month.",
  );
  assertEquals(
    presented({ chart: "over_time", unit: "day", period, series: [], step_totals: [], total: none }).table,
    "Nothing spent this month.",
  );
  assertEquals(
    presented({
      chart: "upcoming_bills",
      period: { from: "2026-11-01", to: "2026-12-01" },
      series: [],
      total: { ...none, overdue: 0 },
    }).table,
    "Nothing due until 2026-12-01.",
  );
});

Deno.test("every period has a name, and what it is compared with", () => {
  const names: Record<string, [now: string, before: string]> = {
    this_month: ["this month", "by this day last month"],
    this_quarter: ["this quarter", "by this day last quarter"],
    this_year: ["this year", "by this day last year"],
    last_month: ["last month", "the month before"],
    last_30_days: ["in the last 30 days", "in the 30 days before"],
    last_12_months: ["in the last 12 months", "in the 12 months before"],
  };
  for (const [name, words] of Object.entries(names)) {
    assertEquals([en.periodWords({ ...period, name }), en.earlierWords(compared, name)], words);
  }
  const same = presented({
    chart: "by_category",
    period,
    series: [{ points: [] }],
    total,
    compared: { ...compared, whole_percent: 0 },
  });
  assertEquals(same.table.split("\n")[0], "50.00 EUR this month, about as much as by this day last month.");
});
