/** The text chart for hosts without charts: one sentence and a table. */
import { assertEquals } from "@std/assert";
import { presentData } from "../../../../functions/mcp/present/data.ts";
import type { Json } from "../../../_support/books.ts";
import { en } from "../../../../shared/words/en/mod.ts";
import { assertNothingMissing } from "../../../_support/books.ts";

function presented(facts: Json): Json {
  const data = presentData("show_spending_chart", {
    today: "2026-11-20",
    currency: "EUR",
    unconverted: [],
    unknown_amounts: [],
    ...facts,
  }, en);
  assertNothingMissing(data);
  return data;
}

const total = { amount: "50.00", currency: "EUR", count: 3 };
const period = { from: "2026-11-01", to: "2026-11-30", name: "this_month" };
const compared = { from: "2026-10-01", to: "2026-10-20", amount: "52.63" };
const row = (amount: string, ...group: unknown[]) => ({ group, amount, count: 1 });

Deno.test("by_category: unnamed groups get a name, and shares are not part of the series", () => {
  const { series, table, period: shown, compared: before } = presented({
    chart: "by_category",
    period,
    rows: [row("40.00", "Food|x"), row("9.00", { none: "category" }), row("-1.00", { none: "rest" })],
    total,
    compared,
  });
  assertEquals(series, [{
    label: "Spending",
    points: [{ x: "Food|x", y: "40.00" }, { x: "Uncategorized", y: "9.00" }, { x: "Other", y: "-1.00" }],
  }]);
  assertEquals(table.split("\n"), [
    "50.00 EUR this month, 5% less than at this point last month.",
    "",
    "| Category | Amount (EUR) | Share |",
    "| --- | ---: | ---: |",
    "| Food\\|x | 40.00 | 83% |",
    "| Uncategorized | 9.00 | 19% |",
    "| Other | -1.00 |  |",
  ]);
  assertEquals([shown, before], [
    { from: "2026-11-01", to: "2026-11-30", words: "this month" },
    { from: "2026-10-01", to: "2026-10-20", amount: "52.63", change_percent: -5, words: "at this point last month" },
  ]);
});

Deno.test("over time: a column per step, with the total of several series", () => {
  const alone = presented({
    chart: "over_time",
    unit: "month",
    period: { from: "2026-09-01", to: "2026-11-30" },
    rows: [row("1.00", "2026-09"), row("2.00", "2026-11")],
    total,
  });
  assertEquals(alone.table.split("\n").slice(2), [
    "| Month | Amount (EUR) |",
    "| --- | ---: |",
    "| 2026-09 | 1.00 |",
    "| 2026-10 | 0.00 |",
    "| 2026-11 (part) | 2.00 |",
  ]);
  assertEquals(alone.series[0].label, "Spending");
  const several = presented({
    chart: "category_over_time",
    unit: "week",
    period: { from: "2026-11-01", to: "2026-11-10" },
    rows: [
      row("1.00", "Food", "2026-10-26"),
      row("1.50", "Food", "2026-11-09"),
      row("2.00", { none: "category" }, "2026-11-02"),
      row("-3.00", { none: "rest" }, "2026-11-02"),
    ],
    total,
    books_begin: "2026-10-05",
  });
  assertEquals(several.table.split("\n"), [
    "50.00 EUR from 2026-11-01 to 2026-11-10; the books begin on 2026-10-05.",
    "",
    "| Week from | Food | Uncategorized | Other | Total (EUR) |",
    "| --- | ---: | ---: | ---: | ---: |",
    "| 2026-10-26 (part) | 1.00 | 0.00 | 0.00 | 1.00 |",
    "| 2026-11-02 | 0.00 | 2.00 | -3.00 | -1.00 |",
    "| 2026-11-09 (part) | 1.50 | 0.00 | 0.00 | 1.50 |",
  ]);
  assertEquals(several.compared, undefined);
});

Deno.test("upcoming_bills: in date order, with overdue and daily bills marked", () => {
  const line = (bill_id: string, label: string, x: string, y: string) => ({ bill_id, label, x, y, to: x, dates: 1 });
  const { series, table, period: shown } = presented({
    chart: "upcoming_bills",
    unit: "day",
    period: { from: "2026-11-01", to: "2026-12-01" },
    lines: [
      line("bill_2", "Rent", "2026-11-01", "900.00"),
      { ...line("bill_1", "Rolls", "2026-11-21", "18.00"), dates: 9, to: "2026-11-29" },
      line("bill_2", "Rent", "2026-12-01", "900.00"),
    ],
    total: { amount: "1818.00", currency: "EUR", count: 11, overdue: 1 },
  });
  assertEquals(series, [
    {
      label: "Rent",
      bill_id: "bill_2",
      points: [{ x: "2026-11-01", y: "900.00", overdue: true }, { x: "2026-12-01", y: "900.00" }],
    },
    { label: "Rolls", bill_id: "bill_1", points: [{ x: "2026-11-21", y: "18.00", dates: 9, to: "2026-11-29" }] },
  ]);
  assertEquals(table.split("\n"), [
    "1818.00 EUR due by 2026-12-01, 1 of 11 dates overdue.",
    "",
    "| Due | Bill | Amount (EUR) |",
    "| --- | --- | ---: |",
    "| 2026-11-01 (overdue) | Rent | 900.00 |",
    "| 2026-11-21 to 2026-11-29 | Rolls (9 ×) | 18.00 |",
    "| 2026-12-01 | Rent | 900.00 |",
  ]);
  assertEquals(shown.words, "due by 2026-12-01");
});

Deno.test("a chart without spending or due dates has no table", () => {
  const none = { amount: "0.00", currency: "EUR", count: 0 };
  assertEquals(
    presented({ chart: "by_category", period, rows: [], total: none }).table,
    "Nothing spent this month.",
  );
  assertEquals(
    presented({ chart: "over_time", unit: "day", period, rows: [], total: none }).table,
    "Nothing spent this month.",
  );
  assertEquals(
    presented({
      chart: "upcoming_bills",
      period: { from: "2026-11-01", to: "2026-12-01" },
      lines: [],
      total: { ...none, overdue: 0 },
    }).table,
    "Nothing due by 2026-12-01.",
  );
});

Deno.test("unconvertible and unknown amounts don't count as zero", () => {
  const none = { amount: "0.00", currency: "EUR", count: 0, overdue: 0 };
  const unconverted = [{ currency: "JPY", amount: "48000", count: 2 }, { currency: "USD", amount: "5.00", count: 1 }];
  assertEquals(
    presented({ chart: "by_category", period, rows: [], total: none, unconverted }).table,
    "48000 JPY and 5.00 USD this month, without a known exchange rate to EUR.",
  );
  assertEquals(
    presented({
      chart: "upcoming_bills",
      period: { from: "2026-11-01", to: "2026-12-01" },
      lines: [],
      total: none,
      unconverted: unconverted.slice(0, 1),
    }).table,
    "48000 JPY due by 2026-12-01, without a known exchange rate to EUR.",
  );
  const unknown = presented({
    chart: "upcoming_bills",
    period: { from: "2026-11-01", to: "2026-12-01" },
    lines: [],
    total: none,
    unknown_amounts: ["Water", "Power"],
  });
  assertEquals(unknown.table, "Water and Power due by 2026-12-01, amount not known yet.");
  assertEquals(unknown.unknown_amounts, "Water and Power");
});

Deno.test("every period and its comparison have a name", () => {
  const names: Record<string, [now: string, before: string]> = {
    this_month: ["this month", "at this point last month"],
    this_quarter: ["this quarter", "at this point last quarter"],
    this_year: ["this year", "at this point last year"],
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
    rows: [],
    total,
    compared: { ...compared, amount: "50.10" },
  });
  assertEquals(same.table.split("\n")[0], "50.00 EUR this month, about as much as at this point last month.");
});
