/**
 * The chart's page in the test language en-XA: the test draws every example of the browser tests into elements that
 * keep only their text. A word without an accent is hard-coded. The test's locale has months without Latin letters.
 */
import { assert, assertEquals } from "@std/assert";
import { type Chart, readResult } from "../../../functions/mcp/chart/view/data.ts";
import { drawChart } from "../../../functions/mcp/chart/view/draw.ts";
import { chartPage } from "../../../shared/words/en/chart_page.ts";
import { accented, plainWords, stringsIn } from "../../_support/accented.ts";
import { EXAMPLES } from "../../browser/chart_host/examples.ts";

/** Attributes that people read or hear. */
const SPOKEN = ["aria-label", "title", "alt", "placeholder"];

class TextElement {
  texts: string[] = [];
  style = { setProperty() {} };
  setAttribute(name: string, value: string) {
    if (SPOKEN.includes(name)) this.texts.push(value);
  }
  append(...content: (TextElement | string)[]) {
    this.texts.push(...content.flatMap((part) => typeof part === "string" ? part : part.texts));
  }
}

/** All texts of a drawing. */
function textsOf(draw: () => HTMLElement[]): string[] {
  const page = globalThis as { document?: unknown };
  const before = page.document;
  const createElement = () => new TextElement();
  page.document = { createElement, createElementNS: createElement };
  try {
    return (draw() as unknown as TextElement[]).flatMap(({ texts }) => texts);
  } finally {
    page.document = before;
  }
}

const chartOf = (data: unknown) => readResult({ structuredContent: { ok: true, data } } as never, accented.chartPage);
const options = { words: accented.chartPage, locale: "ja", width: 700 };

/** Examples that contain every sentence of the page. */
const MORE = {
  aboutTheSame: {
    ...EXAMPLES.categories,
    compared: { words: "last month", amount: "1280.00", change_percent: 0.2 },
  },
  unconverted: { ...EXAMPLES.categories, unconverted: [{ currency: "USD", amount: "5.00", count: 1 }] },
  nothingSpent: { ...EXAMPLES.categories, total: { amount: "0", count: 0 } },
  nothingDue: {
    ...EXAMPLES.categories,
    chart: "upcoming_bills",
    period: { from: "2026-10-01", to: "2026-11-05", words: "" },
    total: { amount: "0", count: 0 },
  },
  upcoming: {
    ...EXAMPLES.categories,
    chart: "upcoming_bills",
    period: { from: "2026-10-01", to: "2026-11-05", words: "" },
    total: { amount: "22.00", count: 2, overdue: 1 },
    compared: undefined,
    series: [
      { label: "Rent", points: [{ x: "2026-10-01", y: "20.00", overdue: true }] },
      { label: "Rolls", points: [{ x: "2026-10-02", y: "2.00", to: "2026-10-04", dates: 3 }] },
    ],
  },
  ...Object.fromEntries(
    (["day", "week", "month"] as const).flatMap((unit) =>
      [1, 2].map((parts) => [`${parts} paler ${unit}`, {
        ...EXAMPLES.categories,
        chart: "over_time",
        unit,
        series: [{
          label: "Spending",
          points: ["2026-10-05", "2026-10-12", "2026-10-19"].map((day, index) => ({
            x: unit === "month" ? day.slice(0, 7) : day,
            y: "5.00",
            ...(index < parts && { partial: true }),
          })),
        }],
      }])
    ),
  ),
};

const said = new Set<string>();

for (const [name, data] of Object.entries({ ...EXAMPLES, ...MORE })) {
  Deno.test(`en-XA: the chart ${name} has no hard-coded word`, () => {
    const chart = chartOf(data) as Chart;
    const texts = textsOf(() => drawChart(chart, options));
    assert(texts.some((text) => /[áéíóú]/.test(text)), "nothing of it is in that language");
    const facts = [...stringsIn(data), ...["USD", "EUR", "JPY", "INR", "KWD"]];
    for (const text of texts) assertEquals(plainWords(text, facts), [], text);
    for (const text of texts) said.add(text);
  });
}

Deno.test("en-XA: an empty chart has its text from the catalog", () => {
  assertEquals(chartOf({}), accented.chartPage.noChart);
  assertEquals(plainWords(`${accented.chartPage.title} ${accented.chartPage.cancelled}`, []), []);
});

Deno.test("the examples contain every sentence of the page without facts", () => {
  const { title: _, noChart: __, cancelled: ___, ...drawn } = accented.chartPage;
  const missing = stringsIn(drawn).filter((text) => ![...said].some((one) => one.includes(text)));
  assertEquals(missing, []);
});

Deno.test("amounts outside every total are named once, and the chart is not called empty", () => {
  const english = (data: unknown) =>
    textsOf(() => drawChart(chartOf(data) as Chart, { words: chartPage, locale: "en-IE", width: 700 })).join("");
  assertEquals(
    english(EXAMPLES["no-rates"]),
    "48000 JPY, 5.00 USD this month, without a known exchange rate to EUR",
  );
  assertEquals(
    english(EXAMPLES["bills-no-rates"]),
    "48000 JPY due by Thu 5 Nov 2026, without a known exchange rate to EUR",
  );
  assertEquals(
    english(EXAMPLES["bills-of-unknown-amounts"]),
    "Water and Power due by Thu 5 Nov 2026, amount not known yet",
  );
  assertEquals(
    english({ ...EXAMPLES["bills-no-rates"], unknown_amounts: "Water" }),
    "48000 JPY due by Thu 5 Nov 2026, without a known exchange rate to EUR" +
      "Not included (amount not known yet): Water",
  );
});

Deno.test("test of the test: a hard-coded word is found in a text and in a label", () => {
  const chart = chartOf(EXAMPLES.categories) as Chart;
  const planted = { ...accented.chartPage, showTable: "Show as table", picture: chartPage.picture };
  const texts = textsOf(() => drawChart(chart, { ...options, words: planted }));
  const found = texts.flatMap((text) => plainWords(text, stringsIn(EXAMPLES.categories)));
  assert(found.includes("Show") && found.includes("Chart"), found.join(" "));
});
