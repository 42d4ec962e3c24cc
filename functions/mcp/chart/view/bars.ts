/// <reference lib="dom" />
/** Horizontal bars, one per row, with name and amount: categories, or due dates of bills. */
// @ts-types="@types/d3-scale"
import { scaleLinear } from "d3-scale";
import { html } from "./elements.ts";

export interface Bar {
  label: string;
  /** Text before the label: the due date of a bill. */
  lead?: string;
  /** Muted text after the label: how often. */
  note?: string;
  /** The meaning of the color, in words. */
  flag?: string;
  amount: string;
  text: string;
  /** A mark on the bar with its label: the budget. */
  limit?: { amount: string; text: string };
}

/** Bars share a scale that starts at zero. A negative amount, possible with refunds, shows its number but no bar. */
export function drawBars(bars: Bar[]): HTMLElement {
  const most = Math.max(...bars.flatMap(({ amount, limit }) => [Number(amount), Number(limit?.amount ?? 0)]), 0);
  const length = scaleLinear([0, most || 1], [0, 100]).clamp(true);
  return html(
    "ol",
    { class: "bars" },
    ...bars.map(({ label, lead, note, flag, amount, text, limit }) => {
      const bar = html("span", { class: "bar", "aria-hidden": "true", "data-limit": limit && "" });
      if (limit) bar.style.setProperty("--limit", `${length(Number(limit.amount))}%`);
      bar.style.setProperty("--length", `${length(Number(amount))}%`);
      return html(
        "li",
        { class: flag ? "flagged" : undefined },
        html(
          "span",
          { class: "label" },
          lead !== undefined && html("span", { class: "lead" }, lead),
          html("bdi", { title: label }, label),
          note !== undefined && html("span", { class: "quiet" }, note),
          flag !== undefined && html("span", { class: "flag" }, flag),
        ),
        html("span", { class: "amount" }, text),
        bar,
        limit !== undefined && html("span", { class: "limit" }, limit.text),
      );
    }),
  );
}
