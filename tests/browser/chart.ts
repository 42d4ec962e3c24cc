/// <reference lib="dom" />
/**
 * `deno task suite browser`: the chart in a frame like a host's, at two widths and in both themes. The short form
 * shows it on a light phone and a dark desktop. Pictures are saved in `node_modules/.cache/pictures`, except in CI.
 */
import { assert, assertEquals } from "@std/assert";
import type { Browser, Frame, Page } from "playwright-core";
import { IS_SHORT } from "../_support/short_form.ts";
import { launchChromium } from "./chromium.ts";
import type {} from "./chart_host/host.ts";
import { buildHost, showChart } from "./chart_host/show_chart.ts";
import { EXAMPLES } from "./chart_host/examples.ts";
import { faultsOf } from "./look.js";

const PICTURES = new URL("../../node_modules/.cache/pictures/", import.meta.url).pathname;
const WIDTHS = { phone: 360, desktop: 760 } as const;
const ALL = [["phone", "light"], ["phone", "dark"], ["desktop", "light"], ["desktop", "dark"]] as const;
const LOOKS = IS_SHORT ? [ALL[0], ALL[3]] : ALL;
const TAKES_PICTURES = !Deno.env.get("CI");
const options = { sanitizeOps: false, sanitizeResources: false };

let browser: Browser;
let host: string;

Deno.test.beforeAll(async () => {
  await Deno.mkdir(PICTURES, { recursive: true });
  host = await buildHost();
  browser = await launchChromium();
});
Deno.test.afterAll(() => browser.close());

interface Looked {
  page: Page;
  frame: Frame;
  complaints: string[];
  requests: string[];
}

async function look(
  data: Record<string, unknown>,
  { width, theme, result, locale = "en-IE" }: {
    width: number;
    theme: string;
    result?: Record<string, unknown>;
    locale?: string;
  },
): Promise<Looked> {
  const context = await browser.newContext({ viewport: { width, height: 700 }, deviceScaleFactor: 2 });
  const page = await context.newPage();
  const complaints: string[] = [];
  const requests: string[] = [];
  // The bridge logs every message for debugging.
  page.on("console", (message) => message.type() !== "debug" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => (complaints.push(`dialog ${dialog.message()}`), dialog.dismiss()));
  page.on("request", ({ url }) => url().startsWith("about:") || requests.push(url()));
  const frame = await showChart(page, {
    host,
    theme,
    locale,
    result: result ?? { content: [], structuredContent: { ok: true, data } },
  });
  return { page, frame, complaints, requests };
}

for (const [name, data] of Object.entries(EXAMPLES)) {
  Deno.test({
    ...options,
    name: `chart ${name} is readable at both widths, in both themes, and makes no network request`,
    async fn() {
      for (const [size, theme] of LOOKS) {
        const { page, frame, complaints, requests } = await look(data, { width: WIDTHS[size], theme });
        if (TAKES_PICTURES) {
          await page.screenshot({ path: `${PICTURES}chart-${name}-${size}-${theme}.png`, fullPage: true });
        }
        if ((data.total as { count: number }).count > 0) await frame.click("summary");
        // Its only script is inline and bar lengths are styles, which the page's own policy allows by hash.
        const faults = (await frame.evaluate<string[]>(faultsOf)).filter((fault) =>
          !/^not ours: <(script|span class="bar")/.test(fault)
        );
        assertEquals([faults, complaints, requests], [[], [], []], `${size} ${theme}`);
        // The host grants the requested height, so nothing scrolls inside.
        await page.waitForFunction(() => {
          const frame = document.querySelector("iframe")!;
          return frame.clientHeight >= 60;
        });
        const [scroll, client] = await frame.evaluate(
          () => [document.documentElement.scrollWidth, document.documentElement.clientWidth],
        );
        assert(scroll! <= client!, `${size} ${theme}: ${scroll} > ${client}`);
        await page.context().close();
      }
    },
  });
}

Deno.test({
  ...options,
  name: "the chart states the number first, then the comparison, in the reader's locale",
  async fn() {
    const readers = [["en-IE", "€1,284.10", "8%"], ["de-DE", "1.284,10 €", "8 %"], ["nonsense!", "€1,284.10", "8%"]];
    for (const [locale, number, share] of readers) {
      const { page, frame } = await look(EXAMPLES.categories!, { width: 360, theme: "light", locale });
      const text = (await frame.innerText("main")).replaceAll("\u00a0", " ");
      assert(text.startsWith(`${number} this month\n`), text);
      assert(text.includes(`${share} less than at this point last month (`), text);
      await page.context().close();
    }
  },
});

Deno.test({
  ...options,
  name: "the table has every number of the chart and is reachable by keyboard",
  async fn() {
    const { page, frame } = await look(EXAMPLES.bills!, { width: 760, theme: "light" });
    await frame.focus("summary");
    await page.keyboard.press("Enter");
    const rows = await frame.locator("tbody tr").allInnerTexts();
    assertEquals(rows.length, 7);
    assert(/1 Oct 2026 \(overdue\)\s+Rent office\s+€900\.00/.test(rows[0]!), rows[0]);
    assert(/6 Oct 2026 – .*4 Nov 2026\s+Breakfast rolls \(30 ×\)\s+€114\.00/.test(rows[2]!), rows[2]);
    await page.keyboard.press("Tab");
    assertEquals(await frame.evaluate(() => document.activeElement?.getAttribute("role")), "region");
    await page.context().close();
  },
});

Deno.test({
  ...options,
  name: "a budget appears as a mark on its bar, in words below it, and as a column of the table",
  async fn() {
    const { page, frame } = await look(EXAMPLES.budgets!, { width: 360, theme: "light" });
    const bars = await frame.locator(".bars li").allInnerTexts();
    assert(bars[1]!.endsWith("82% of €500.00"), bars[1]);
    assert(/over budget[^]*123% of €50\.00$/.test(bars[3]!), bars[3]);
    assert(/-€10\.00\s+0% of €40\.00$/.test(bars[5]!), bars[5]);
    assert((await frame.innerText("main")).includes("Budget: 85% of €1,500.00"));
    const marks = await frame.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>(".bar[data-limit]")].map((bar) => {
        const { left, width } = getComputedStyle(bar, "::after");
        return Math.round((parseFloat(left) + parseFloat(width)) / bar.clientWidth * 100);
      })
    );
    // The scale ends at the largest budget, 700.00, and each mark is at the end of its available amount.
    assertEquals(
      marks.map((mark, i) => Math.abs(mark - [89, 71, 7, 1, 6, 100][i]!) <= 1),
      Array(6).fill(true),
      `${marks}`,
    );
    await frame.click("summary");
    const rows = await frame.locator("tbody tr").allInnerTexts();
    assert(/^Groceries\s+€414\.35\s+82% of €500\.00$/.test(rows[1]!), rows[1]);
    assert(/^Food\s+€30\.00\s+used up earlier$/.test(rows[4]!), rows[4]);
    await page.context().close();
  },
});

Deno.test({
  ...options,
  name: "the chart follows the host's theme, and shows errors, text-only answers and cancellations",
  async fn() {
    const { page, frame } = await look(EXAMPLES.days!, { width: 760, theme: "light" });
    const ground = () => frame.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    assertEquals(await ground(), "rgb(255, 255, 255)");
    await page.evaluate(() => globalThis.change({ theme: "dark", locale: "en" } as never));
    await frame.waitForSelector(":root[data-theme=dark]");
    assertEquals(await ground(), "rgb(28, 29, 32)");
    await page.context().close();

    const error = { ok: false, error: { code: "category_not_found", message: 'There is no category called "Fod".' } };
    const failed = await look({}, {
      width: 360,
      theme: "dark",
      result: { isError: true, content: [], structuredContent: error },
    });
    assertEquals(await failed.frame.innerText("main"), 'There is no category called "Fod".');
    await failed.page.context().close();

    const text = JSON.stringify({ ok: true, data: EXAMPLES.categories });
    const plain = await look({}, { width: 360, theme: "dark", result: { content: [{ type: "text", text }] } });
    assertEquals(await plain.frame.locator(".bars li").count(), 8);
    await plain.page.context().close();
  },
});
