/// <reference lib="dom" />
/** The chart's page: number, chart and table; redrawn when the host's theme or the width changes. */
import { drawBars } from "./bars.ts";
import { drawColumns } from "./columns.ts";
import { type Chart, readResult } from "./data.ts";
import { html } from "./elements.ts";
import { connectToHost, type HostContext } from "./host.ts";
import { drawTable } from "./table.ts";
import { createWords, headline, partialNote, type Words } from "./words.ts";

const root = document.querySelector("main")!;
let shown: Chart | string | undefined;
let locale: string | undefined;
let width = 0;

connectToHost({
  onContext(context) {
    locale = context.locale;
    applyTheme(context);
    draw();
  },
  onResult(result) {
    shown = readResult(result);
    draw();
  },
  onCancelled() {
    shown = "The chart was cancelled.";
    draw();
  },
});
new ResizeObserver(() => {
  if (Math.abs(root.clientWidth - width) > 1) draw();
}).observe(root);

function draw(): void {
  width = root.clientWidth;
  if (shown === undefined) return;
  const isOpen = root.querySelector("details")?.open ?? false;
  root.replaceChildren(...(typeof shown === "string" ? [html("p", { role: "alert" }, shown)] : drawChart(shown)));
  const details = root.querySelector("details");
  if (details) details.open = isOpen;
  root.removeAttribute("aria-busy");
}

function drawChart(chart: Chart): HTMLElement[] {
  const words = createWords(chart, locale);
  const { number, rest, compared } = headline(chart, words);
  const heading = html("h1", {}, html("span", { class: "number" }, number), " ", html("span", { class: "rest" }, rest));
  const said = [heading];
  if (compared) said.push(html("p", { class: "compared" }, compared));
  if (chart.unconverted.length > 0) {
    const left = chart.unconverted.map(({ currency, amount }) => `${amount} ${currency}`).join(", ");
    said.push(html("p", { class: "note" }, `Not included (no exchange rate): ${left}.`));
  }
  if (chart.total.count === 0 || chart.series.length === 0) return said;
  const partial = partialNote(chart);
  if (partial) said.push(html("p", { class: "note" }, partial));
  const label = `Chart: ${number} ${rest}. The numbers are in the table below.`;
  return [
    ...said,
    html("figure", { role: "group", "aria-label": label }, drawPicture(chart, words)),
    drawTable(chart, words),
  ];
}

function drawPicture(chart: Chart, words: Words): HTMLElement {
  switch (chart.chart) {
    case "by_category":
      return drawBars(
        chart.series.flatMap(({ points }) => points.map(({ x, y }) => ({ label: x, amount: y, text: words.money(y) }))),
      );
    case "upcoming_bills":
      return drawBars(
        chart.series.flatMap(({ label, points }) => points.map((point) => ({ label, ...point })))
          .toSorted((a, b) => a.x < b.x ? -1 : 1)
          .map(({ label, x, y, overdue, dates, to }) => ({
            label,
            lead: words.step(x, "short"),
            amount: y,
            text: words.money(y),
            ...(dates && to && { note: `${dates} × until ${words.step(to, "short")}` }),
            ...(overdue && { flag: "overdue" }),
          })),
      );
    default:
      return drawColumns(chart, words, width);
  }
}

/** Uses the host's colors and fonts if provided, else the page's own. */
function applyTheme({ theme, styles }: HostContext): void {
  const { style, dataset } = document.documentElement;
  if (theme) dataset.theme = theme;
  for (const [name, value] of Object.entries(styles?.variables ?? {})) {
    if (/^--[a-z0-9-]+$/.test(name) && typeof value === "string") style.setProperty(name, value);
  }
}
