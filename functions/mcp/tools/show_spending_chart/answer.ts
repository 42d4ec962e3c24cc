/** `show_spending_chart`: labels of the series and periods, plus a sentence and a table for hosts without charts. */
import * as z from "zod/mini";
import { presenter } from "../../../../shared/connector/tool.ts";
import { changePercent, minorOf, percentOf } from "../../../../shared/amounts.ts";
import type { Words } from "../../../../shared/words/words.ts";
import {
  barSeries,
  billSeries,
  columnSeries,
  limitOf,
  type Series,
  Spent,
  stepTotals,
  Upcoming,
} from "./chart_series.ts";
import { cell, table } from "./markdown.ts";

const Chart = z.discriminatedUnion("chart", [Spent, Upcoming]);

const presentChart = (data: z.infer<typeof Chart>, words: Words) =>
  data.chart === "upcoming_bills" ? presentUpcoming(data, words) : presentSpent(data, words);

function presentSpent({ rows, today, books_begin, budgets, ...data }: Spent, words: Words) {
  const { name, ...period } = data.period;
  const now = words.periodWords(data.period);
  const earlier = data.compared?.amount;
  const compared = data.compared && earlier && {
    ...data.compared,
    amount: earlier,
    change_percent: changePercent(data.total.amount, earlier, { decimals: 1 }),
    words: words.earlierWords(data.compared, name),
  };
  const series = data.chart === "by_category"
    ? barSeries({ rows, budgets }, words)
    : columnSeries({ ...data, rows, today }, words);
  const whole = budgets?.find(({ category }) => !category);
  const budget = whole && limitOf(whole);
  const sentence = words.chart.spent({
    total: data.total,
    unconverted: data.unconverted,
    ...(budget && { budget: { ...budget, currency: data.currency } }),
    period: now,
    books_begin,
    ...(compared && {
      compared: { words: compared.words, whole_percent: changePercent(data.total.amount, compared.amount) },
    }),
  });
  const lines = data.chart === "by_category"
    ? tableOfCategories({ ...data, series }, words)
    : tableOfSteps({ ...data, series }, words);
  return {
    ...data,
    series,
    period: { ...period, words: now },
    ...(compared && { compared }),
    ...(budget && { budget }),
    table: data.total.count === 0 ? sentence : `${sentence}\n\n${lines}`,
  };
}

type Drawn = Pick<Spent, "unit" | "currency"> & { series: readonly Series[] };

function tableOfCategories({ series, currency }: Drawn, { chart }: Words): string {
  const points = series[0]!.points;
  const whole = points.reduce((sum, { y }) => sum + minorOf(y), 0n);
  const share = (part: bigint) => whole > 0n && part >= 0n ? chart.percent(percentOf(part, whole)) : "";
  const hasBudgets = points.some(({ budget }) => budget);
  return table(
    [
      { head: chart.category },
      { head: chart.amount(currency), isAmount: true },
      { head: chart.share, isAmount: true },
      ...(hasBudgets ? [{ head: chart.budget }] : []),
    ],
    points.map(({ x, y, budget }) => [
      cell(x),
      y,
      share(minorOf(y)),
      ...(hasBudgets ? [budget ? chart.used({ ...budget, currency }) : ""] : []),
    ]),
  );
}

function tableOfSteps({ series, unit = "day", currency }: Drawn, { chart }: Words): string {
  const isAlone = series.length === 1;
  const totals = series.length > 1 ? stepTotals(series) : [];
  const amounts = isAlone
    ? [chart.amount(currency)]
    : [...series.map(({ label }) => cell(label)), chart.total(currency)];
  return table(
    [{ head: chart.step[unit] }, ...amounts.map((head) => ({ head, isAmount: true }))],
    (series[0]?.points ?? []).map(({ x, partial }, step) => [
      partial ? chart.part(x) : x,
      ...series.map(({ points }) => points[step]!.y),
      ...(isAlone ? [] : [totals[step]!]),
    ]),
  );
}

function presentUpcoming({ lines, today, unknown_amounts: bills, ...data }: Upcoming, { chart, language }: Words) {
  const series = billSeries({ lines, today });
  const unknown = bills.length > 0 && { unknown_amounts: chart.names(bills) };
  const sentence = chart.upcoming({
    total: data.total,
    to: data.period.to,
    unconverted: data.unconverted,
    ...unknown,
  });
  const points = series.flatMap(({ label, points }) => points.map((point) => ({ label, ...point })))
    .toSorted((one, other) => one.x.localeCompare(other.x, "en") || one.label.localeCompare(other.label, language));
  const rows = table(
    [{ head: chart.due }, { head: chart.bill }, { head: chart.amount(data.currency), isAmount: true }],
    points.map(({ label, x, y, to, overdue, dates, estimate }) => [
      chart.dueDates({ from: x, to, overdue }),
      chart.times(cell(label), dates),
      estimate ? chart.about(y) : y,
    ]),
  );
  return {
    ...data,
    ...unknown,
    series,
    period: { ...data.period, words: chart.dueUntil(data.period.to) },
    table: data.total.count === 0 ? sentence : `${sentence}\n\n${rows}`,
  };
}

export const answer = presenter(Chart, presentChart);
