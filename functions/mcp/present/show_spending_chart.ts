/** `show_spending_chart`: labels of the series and periods, and a sentence and a table for hosts without charts. */
import type { Facts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";
import { cell, table } from "./markdown.ts";

export const presentChart = (data: Facts, words: Words): Facts =>
  data.chart === "upcoming_bills" ? presentUpcoming(data, words) : presentSpent(data, words);

function presentSpent({ step_totals, books_begin, ...data }: Facts, words: Words): Facts {
  const { name, ...period } = data.period;
  const now = words.periodWords(data.period);
  const { whole_percent, ...compared } = data.compared ?? {};
  const before = data.compared && words.earlierWords(data.compared, name);
  const series = data.series.map((one: Facts) => presentSeries(one, { ...data, words }));
  const sentence = words.chart.spent({
    total: data.total,
    period: now,
    books_begin,
    ...(before && { compared: { words: before, whole_percent } }),
  });
  const rows = data.chart === "by_category"
    ? tableOfCategories({ ...data, series }, words)
    : tableOfSteps({ ...data, series, step_totals }, words);
  return {
    ...data,
    series: series.map((one: Facts) => ({ ...one, points: one.points.map(({ share: _, ...point }: Facts) => point) })),
    period: { ...period, words: now },
    ...(before && { compared: { ...compared, words: before } }),
    table: data.total.count === 0 ? sentence : `${sentence}\n\n${rows}`,
  };
}

/** Bars are one series whose points are categories; columns are one series per category, or a single one. */
function presentSeries({ label, is_rest, points }: Facts, { chart, words }: Facts): Facts {
  const nameOf = (name: string | undefined, isRest: boolean) =>
    name ?? (isRest ? words.chart.other : words.labels.uncategorized);
  return {
    label: chart === "category_over_time" ? nameOf(label, is_rest) : words.chart.spending,
    points: chart === "by_category"
      ? points.map(({ x, is_rest, ...point }: Facts) => ({ x: nameOf(x, is_rest), ...point }))
      : points,
  };
}

const tableOfCategories = ({ series, currency }: Facts, { chart }: Words): string =>
  table(
    [{ head: chart.category }, { head: chart.amount(currency), isAmount: true }, { head: chart.share, isAmount: true }],
    series[0].points.map(({ x, y, share }: Facts) => [cell(x), y, share === undefined ? "" : chart.percent(share)]),
  );

function tableOfSteps({ series, unit, currency, step_totals }: Facts, { chart }: Words): string {
  const isAlone = series.length === 1;
  const amounts = isAlone
    ? [chart.amount(currency)]
    : [...series.map(({ label }: Facts) => cell(label)), chart.total(currency)];
  return table(
    [{ head: chart.step[unit as "day"] }, ...amounts.map((head) => ({ head, isAmount: true }))],
    (series[0]?.points ?? []).map(({ x, partial }: Facts, step: number) => [
      partial ? chart.part(x) : x,
      ...series.map(({ points }: Facts) => points[step].y),
      ...(isAlone ? [] : [step_totals[step]]),
    ]),
  );
}

function presentUpcoming(data: Facts, { chart, language }: Words): Facts {
  const sentence = chart.upcoming({ total: data.total, to: data.period.to });
  const lines = data.series.flatMap(({ label, points }: Facts) => points.map((point: Facts) => ({ label, ...point })))
    .toSorted((one: Facts, other: Facts) =>
      one.x.localeCompare(other.x, "en") || one.label.localeCompare(other.label, language)
    );
  const rows = table(
    [{ head: chart.due }, { head: chart.bill }, { head: chart.amount(data.currency), isAmount: true }],
    lines.map(({ label, x, y, to, overdue, dates }: Facts) => [
      chart.dueDates({ from: x, to, overdue }),
      chart.times(cell(label), dates),
      y,
    ]),
  );
  return {
    ...data,
    period: { ...data.period, words: chart.dueUntil(data.period.to) },
    table: data.total.count === 0 ? sentence : `${sentence}\n\n${rows}`,
  };
}
