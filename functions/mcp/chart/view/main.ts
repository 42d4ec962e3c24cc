/// <reference lib="dom" />
/** The chart's page, in English. Draws again when the host's theme or the width changes. */
import { chartPage as words } from "../../../../shared/words/en/chart_page.ts";
import { type Chart, readResult } from "./data.ts";
import { drawChart } from "./draw.ts";
import { html } from "./elements.ts";
import { connectToHost, type HostContext } from "./host.ts";

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
    shown = readResult(result, words);
    draw();
  },
  onCancelled() {
    shown = words.cancelled;
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
  root.replaceChildren(
    ...(typeof shown === "string" ? [html("p", { role: "alert" }, shown)] : drawChart(shown, { words, locale, width })),
  );
  const details = root.querySelector("details");
  if (details) details.open = isOpen;
  root.removeAttribute("aria-busy");
}

/** Uses the host's colors and fonts if it provides any, otherwise the page's own. */
function applyTheme({ theme, styles }: HostContext): void {
  const { style, dataset } = document.documentElement;
  if (theme) dataset.theme = theme;
  for (const [name, value] of Object.entries(styles?.variables ?? {})) {
    if (/^--[a-z0-9-]+$/.test(name) && typeof value === "string") style.setProperty(name, value);
  }
}
