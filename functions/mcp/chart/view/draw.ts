/// <reference lib="dom" />
/** Draws a chart as elements: the headline, the picture and the table. */
import type { ChartPageWords } from "../../../../shared/words/en/chart_page.ts";
import { drawBars } from "./bars.ts";
import { drawColumns, type Drawing } from "./columns.ts";
import type { Chart } from "./data.ts";
import { html } from "./elements.ts";
import { createFormat } from "./format.ts";
import { amountsIn, columnNotes, headline } from "./headline.ts";
import { drawTable } from "./table.ts";

/** @param options.locale the host's; without one, the browser's. */
export function drawChart(
  chart: Chart,
  { words, locale, width }: { words: ChartPageWords; locale: string | undefined; width: number },
): HTMLElement[] {
  const format = createFormat(chart, locale);
  const drawing = { words, format, width };
  const { number, rest, compared } = headline(chart, drawing);
  const heading = html("h1", {}, html("bdi", { class: "number" }, number), " ", html("span", { class: "rest" }, rest));
  const said = [heading];
  if (compared) said.push(html("p", { class: "compared" }, compared));
  if (chart.budget) said.push(html("p", { class: "note" }, words.usedOfAll(format.used(chart.budget))));
  if (chart.total.estimated) {
    said.push(html("p", { class: "note" }, words.estimated(format.money(chart.total.estimated))));
  }
  if (chart.unknown_amounts && chart.unknown_amounts !== number) {
    said.push(html("p", { class: "note" }, words.unknownAmounts, " ", html("bdi", {}, chart.unknown_amounts)));
  }
  if (chart.total.count === 0) return said;
  if (chart.unconverted.length > 0) {
    said.push(html("p", { class: "note" }, words.unconverted(amountsIn(chart.unconverted))));
  }
  if (chart.series.length === 0) return said;
  said.push(...columnNotes(chart, words).map((note) => html("p", { class: "note" }, note)));
  return [
    ...said,
    html("figure", { role: "group", "aria-label": words.picture(`${number} ${rest}`) }, drawPicture(chart, drawing)),
    drawTable(chart, drawing),
  ];
}

function drawPicture(chart: Chart, drawing: Drawing): HTMLElement {
  const { words, format } = drawing;
  switch (chart.chart) {
    case "by_category":
      return drawBars(
        chart.series.flatMap(({ points }) =>
          points.map(({ x, y, budget }) => ({
            label: x,
            amount: y,
            text: format.money(y),
            ...(budget && { limit: { amount: budget.amount, text: words.used(format.used(budget)) } }),
            ...(budget && Number(y) > Math.max(0, Number(budget.amount)) && { flag: words.overBudget }),
          }))
        ),
      );
    case "upcoming_bills":
      return drawBars(
        chart.series.flatMap(({ label, points }) => points.map((point) => ({ label, ...point })))
          .toSorted((a, b) => a.x < b.x ? -1 : 1)
          .map(({ label, x, y, overdue, dates, to, estimate }) => ({
            label,
            lead: format.step(x, "short"),
            amount: y,
            text: estimate ? words.about(format.money(y)) : format.money(y),
            ...(dates && to && { note: words.timesUntil(dates, format.step(to, "short")) }),
            ...(overdue && { flag: words.overdue }),
          })),
      );
    default:
      return drawColumns(chart, drawing);
  }
}
