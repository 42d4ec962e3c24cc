/// <reference lib="dom" />
/** The same numbers as a table. */
import type { Chart } from "./data.ts";
import { html } from "./elements.ts";
import type { Words } from "./words.ts";

export function drawTable(chart: Chart, words: Words): HTMLElement {
  const [head, ...rows] = cellsOf(chart, words);
  return html(
    "details",
    {},
    html("summary", {}, "Show as table"),
    html(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table" },
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

function cellsOf({ chart, series, unit }: Chart, words: Words): string[][] {
  const [first] = series;
  if (!first) return [["", "Amount"]];
  if (chart === "by_category") return [["Category", "Amount"], ...first.points.map(({ x, y }) => [x, words.money(y)])];
  if (chart === "upcoming_bills") {
    const rows = series.flatMap(({ label, points }) => points.map((point) => ({ label, ...point })));
    return [
      ["Due", "Bill", "Amount"],
      ...rows.toSorted((a, b) => a.x < b.x ? -1 : 1).map(({ label, x, y, overdue, dates, to }) => [
        [words.step(x, "long"), ...(to ? [words.step(to, "long")] : [])].join(" – ") + (overdue ? " (overdue)" : ""),
        dates ? `${label} (${dates} ×)` : label,
        words.money(y),
      ]),
    ];
  }
  const header = { day: "Day", week: "Week from", month: "Month" }[unit ?? "day"];
  return [
    [header, ...(series.length === 1 ? ["Amount"] : series.map(({ label }) => label))],
    ...first.points.map((
      { x, partial },
      i,
    ) => [
      words.step(x, "long") + (partial ? " (part)" : ""),
      ...series.map(({ points }) => words.money(points[i]?.y ?? "0")),
    ]),
  ];
}
