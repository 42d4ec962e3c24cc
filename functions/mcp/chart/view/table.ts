/// <reference lib="dom" />
/** The same numbers as a table. */
import { type Drawing, stepWords } from "./columns.ts";
import type { Chart } from "./data.ts";
import { html } from "./elements.ts";

export function drawTable(chart: Chart, { words, format }: Drawing): HTMLElement {
  const [head, ...rows] = cellsOf(chart, { words, format });
  return html(
    "details",
    {},
    html("summary", {}, words.showTable),
    html(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": words.table },
      html(
        "table",
        {},
        html("thead", {}, html("tr", {}, ...head!.map((cell) => html("th", { scope: "col" }, html("bdi", {}, cell))))),
        html(
          "tbody",
          {},
          ...rows.map(([first, ...more]) =>
            html(
              "tr",
              {},
              html("th", { scope: "row" }, html("bdi", {}, first!)),
              ...more.map((cell) => html("td", {}, html("bdi", {}, cell))),
            )
          ),
        ),
      ),
    ),
  );
}

function cellsOf({ chart, series, unit = "day" }: Chart, { words, format }: Omit<Drawing, "width">): string[][] {
  const { columns } = words;
  const [first] = series;
  if (!first) return [["", columns.amount]];
  if (chart === "by_category") {
    const hasBudgets = first.points.some(({ budget }) => budget);
    return [
      [columns.category, columns.amount, ...(hasBudgets ? [columns.budget] : [])],
      ...first.points.map(({ x, y, budget }) => [
        x,
        format.money(y),
        ...(hasBudgets ? [budget ? words.used(format.used(budget)) : ""] : []),
      ]),
    ];
  }
  if (chart === "upcoming_bills") {
    const rows = series.flatMap(({ label, points }) => points.map((point) => ({ label, ...point })));
    return [
      [columns.due, columns.bill, columns.amount],
      ...rows.toSorted((a, b) => a.x < b.x ? -1 : 1).map(({ label, x, y, overdue, dates, to, estimate }) => [
        words.dueDates({ from: format.step(x, "long"), ...(to && { to: format.step(to, "long") }), overdue }),
        words.times(label, dates),
        estimate ? words.about(format.money(y)) : format.money(y),
      ]),
    ];
  }
  return [
    [columns.step[unit], ...(series.length === 1 ? [columns.amount] : series.map(({ label }) => label))],
    ...first.points.map((point, i) => [
      stepWords(point, { words, format }),
      ...series.map(({ points }) => format.money(points[i]?.y ?? "0")),
    ]),
  ];
}
