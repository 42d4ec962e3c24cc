/**
 * `deno task suite browser`: every page in Chromium, at four widths and in both themes. The short form shows each page
 * once, alternating between a phone and a dark desktop. Pictures are saved in `node_modules/.cache/pictures`, except
 * in CI.
 */
import { assertEquals } from "@std/assert";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { IS_SHORT } from "../_support/short_form.ts";
import { launchChromium } from "./chromium.ts";
import { faultsOf, focused, startAtTop } from "./look.js";
import { STATES } from "./states.ts";
import type { State } from "./states/state.ts";

const PICTURES = new URL("../../node_modules/.cache/pictures/", import.meta.url).pathname;
/** Phone, the narrowest width in WCAG 1.4.10 (also 1280 at 400 %), desktop, desktop at 200 %. */
const WIDTHS = { phone: 390, narrow: 320, desktop: 1280, zoomed: 640 } as const;
type Size = keyof typeof WIDTHS;
const THEMES = ["light", "dark"] as const;
const ALL = Object.keys(WIDTHS) as Size[];
/** axe checks these. */
const SIZES: Record<typeof THEMES[number], Size[]> = IS_SHORT
  ? { light: ["phone"], dark: ["desktop"] }
  : { light: ALL, dark: ALL };
const TAKES_PICTURES = !Deno.env.get("CI");

let browser: Browser;
let windows: Record<typeof THEMES[number], { page: Page; complaints: string[] }>;
let stage: { siteUrl: string; show(state: State): void; close(): Promise<void> };

Deno.test.beforeAll(async () => {
  await Deno.mkdir(PICTURES, { recursive: true });
  browser = await launchChromium();
  windows = { light: await openWindow("light"), dark: await openWindow("dark") };
  stage = openStage();
});
Deno.test.afterAll(async () => {
  await browser.close();
  await stage.close();
});

/**
 * One context for all pages, because a new one for each took half of the time; and the problems of the page under
 * test.
 */
async function openWindow(colorScheme: typeof THEMES[number]) {
  const context = await browser.newContext({ colorScheme, timezoneId: "Europe/Berlin" });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, complaints };
}

/** A site that serves the page under test at every URL. */
function openStage(): typeof stage {
  let shown: State | undefined;
  let siteUrl = "";
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, () => shown!.show(siteUrl));
  siteUrl = `http://127.0.0.1:${server.addr.port}`;
  return { siteUrl, show: (state) => shown = state, close: () => server.shutdown() };
}

const only = Deno.env.get("ONLY");
for (const [turn, state] of STATES.filter(({ name }) => !only || name.includes(only)).entries()) {
  const themes = IS_SHORT ? [THEMES[turn % 2]!] : THEMES;
  Deno.test({
    name: `${state.name} is readable and reachable at every width, in both themes`,
    sanitizeOps: false,
    sanitizeResources: false,
    async fn() {
      stage.show(state);
      await Promise.all(themes.map((theme) => look(state, theme)));
    },
  });
}

async function look(state: State, theme: typeof THEMES[number]): Promise<void> {
  const { page, complaints } = windows[theme];
  complaints.length = 0;
  await page.goto(stage.siteUrl);
  for (const size of SIZES[theme]) {
    await page.setViewportSize({ width: WIDTHS[size], height: 800 });
    const faults = await page.evaluate(faultsOf);
    if (TAKES_PICTURES && (size === "phone" || size === "desktop")) {
      await page.screenshot({ path: `${PICTURES}${state.name}-${size}-${theme}.png`, fullPage: true });
    }
    assertEquals(faults, [], `${size} ${theme}`);
    if (size === "phone" && theme === "light" || size === "desktop" && theme === "dark") await runAxe(page);
    if (size === "desktop" && theme === "dark") await walkByKeyboard(page);
  }
  // Every browser logs an error status to the console.
  assertEquals(complaints.filter((text) => !text.startsWith("Failed to load resource")), [], theme);
}

/** The problems that axe finds: the rules of WCAG and best practices. */
async function runAxe(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate("axe.run()") as axe.AxeResults;
  assertEquals(violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]), []);
}

/** Tab reaches every control once, and focus is visible. */
async function walkByKeyboard(page: Page): Promise<void> {
  const expected = await page.locator(
    "a[href], button:enabled, input:enabled:not([type=hidden], [type=radio]), select, summary, fieldset:has(input[type=radio]:enabled)",
  )
    .evaluateAll((elements) =>
      elements.filter((element) => element.checkVisibility({ visibilityProperty: true })).length
    );
  const seen = new Set<string>();
  await page.evaluate(startAtTop);
  let last: string | undefined;
  for (let n = 0; n < 4 * expected + 5; n++) {
    await page.keyboard.press("Tab");
    const focus = await page.evaluate(focused);
    // The day, month and year of a date field are separate tab stops.
    if (focus && focus.what === last) continue;
    if (!focus || seen.has(focus.what)) break;
    last = focus.what;
    assertEquals(focus.isVisible, true, `the focus on ${focus.what} is not visible`);
    seen.add(focus.what);
  }
  assertEquals(seen.size, expected, `by keyboard: ${[...seen].join(", ")}`);
}
