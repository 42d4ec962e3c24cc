/// <reference lib="dom" />
/**
 * Columns on a time axis: one chart for the total, or one per category. Each has its own scale, since the largest would
 * flatten all others, and its highest column shows its number.
 */
// @ts-types="@types/d3-scale"
import { scaleBand, scaleLinear } from "d3-scale";
import type { ChartPageWords } from "../../../../shared/words/en/chart_page.ts";
import type { Chart, Point } from "./data.ts";
import { html, svg } from "./elements.ts";
import type { Format } from "./format.ts";

const AXIS_WIDTH = 52;
const AXIS_HEIGHT = 22;

export interface Drawing {
  words: ChartPageWords;
  format: Format;
  width: number;
}

interface Frame {
  /** Small multiples have no amount axis; the highest column shows its number. */
  isAlone: boolean;
  width: number;
  height: number;
  most: number;
  least: number;
  hasAxis: boolean;
}

export function drawColumns(chart: Chart, { words, format, width }: Drawing): HTMLElement {
  const isAlone = chart.series.length === 1;
  return html(
    "div",
    { class: "columns" },
    ...chart.series.map(({ label, points }, i) => {
      const hasAxis = i === chart.series.length - 1;
      const values = points.map(({ y }) => Number(y));
      const picture = drawPicture(points, { words, format }, {
        width,
        most: Math.max(...values, 0),
        least: Math.min(...values, 0),
        isAlone,
        hasAxis,
        height: (isAlone ? 190 : 56) + (hasAxis ? AXIS_HEIGHT : 0),
      });
      if (isAlone) return picture;
      return html(
        "section",
        {},
        html(
          "h2",
          {},
          html("bdi", { title: label }, label),
          html("span", { class: "amount" }, format.money(sum(points))),
        ),
        picture,
      );
    }),
  );
}

function drawPicture(
  points: Point[],
  { words, format }: Omit<Drawing, "width">,
  { isAlone, width, height, most, least, hasAxis }: Frame,
): SVGElement {
  const bottom = height - (hasAxis ? AXIS_HEIGHT : 2);
  const left = isAlone ? AXIS_WIDTH : 0;
  const x = scaleBand(points.map((point) => point.x), [left, width]).paddingInner(0.25).paddingOuter(0.1);
  const y = scaleLinear([least, most || 1], [bottom, 16]).nice(3);
  const ticks = isAlone ? y.ticks(4).filter((tick) => tick >= 0) : [0];
  const labelled = axisSteps(points, x.step());
  // The highest column shows its number; if columns are wide enough, all do.
  const highest = points.reduce((best, point, i) => Number(point.y) > Number(points[best]!.y) ? i : best, 0);

  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true", focusable: "false" },
    ...ticks.map((tick) =>
      svg(
        "g",
        { class: "tick" },
        svg("line", { x1: left, x2: width, y1: y(tick), y2: y(tick) }),
        isAlone &&
          svg("text", { x: AXIS_WIDTH - 6, y: y(tick), dy: "0.32em", "text-anchor": "end" }, format.tick(tick)),
      )
    ),
    ...points.map((point, i) => {
      const value = Number(point.y);
      const top = Math.min(y(value), y(0));
      const start = x(point.x)!;
      const name = svg(
        "title",
        {},
        `${stepWords(point, { words, format })}: ${format.money(point.y)}`,
      );
      return svg(
        "g",
        { class: ["column", value < 0 && "negative", point.partial && "partial"].filter(Boolean).join(" ") },
        svg("rect", { class: "reach", x: start, y: 0, width: x.step(), height: bottom }),
        svg("rect", {
          x: start,
          y: top,
          width: x.bandwidth(),
          height: Math.abs(y(value) - y(0)),
          rx: Math.min(3, x.bandwidth() / 4),
        }),
        value > 0 && (i === highest || isAlone && x.step() > 64) &&
          svg(
            "text",
            {
              class: "value",
              x: clamp(start + x.bandwidth() / 2, left + 24, width - 28),
              y: top - 4,
              "text-anchor": "middle",
            },
            format.tick(value),
          ),
        name,
      );
    }),
    ...(hasAxis ? labelled : []).map((i) =>
      svg(
        "text",
        {
          class: "step",
          x: clamp(x(points[i]!.x)! + x.bandwidth() / 2, left + 18, width - 18),
          y: height - 6,
          "text-anchor": "middle",
        },
        format.step(points[i]!.x, "short"),
      )
    ),
  );
}

/** A step in words, and whether it is complete. */
export function stepWords({ x, partial }: Point, { words, format }: Omit<Drawing, "width">): string {
  const step = format.step(x, "long");
  return partial ? words.part(step) : step;
}

/** As many evenly spaced steps as there is room for labels, including the first. */
function axisSteps(points: Point[], step: number): number[] {
  const every = Math.max(1, Math.ceil(56 / step));
  return points.flatMap((_, i) => i % every === 0 ? i : []);
}

const clamp = (value: number, least: number, most: number) => Math.max(least, Math.min(most, value));

/** Exact, because it adds integers in units of the smallest decimal. */
function sum(points: Point[]): string {
  const decimals = Math.max(...points.map(({ y }) => y.split(".")[1]?.length ?? 0));
  const total = points.reduce((all, { y }) => all + BigInt(y.replace(".", "")), 0n).toString();
  if (decimals === 0) return total;
  const digits = total.replace("-", "").padStart(decimals + 1, "0");
  return `${total.startsWith("-") ? "-" : ""}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
