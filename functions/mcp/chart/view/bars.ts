/// <reference lib="dom" />
/** Bars that lie, one a row, each with its name and amount beside it: categories, and due dates of bills. */
// @ts-types="@types/d3-scale"
import { scaleLinear } from "d3-scale";
import { html } from "./elements.ts";

export interface Bar {
  label: string;
  /** A word in front of the label: the day that a bill is due. */
  lead?: string;
  /** A quiet word behind the label: how often. */
  note?: string;
  /** What the colour says, in words as well. */
  flag?: string;
  amount: string;
  text: string;
}

/** Bars share one scale that begins at zero; negative amounts, which refunds can make, have their number but no length. */
export function drawBars(bars: Bar[]): HTMLElement {
  const most = Math.max(...bars.map(({ amount }) => Number(amount)), 0);
  const length = scaleLinear([0, most || 1], [0, 100]).clamp(true);
  return html(
    "ol",
    { class: "bars" },
    ...bars.map(({ label, lead, note, flag, amount, text }) => {
      const bar = html("span", { class: "bar", "aria-hidden": "true" });
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
      );
    }),
  );
}
