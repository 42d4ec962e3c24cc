/**
 * `deno task suite pictures`: the pictures of the README, in `docs/pictures/`. Without `UPDATE_PICTURES` it renders
 * but does not save them, since no two machines render the same bytes.
 */
import { assert, assertEquals } from "@std/assert";
import type { Browser, Page } from "playwright-core";
import { composeDigest } from "../../shared/reminders/digest_mail.ts";
import { wordsOf } from "../../shared/words/words.ts";
import { EXAMPLES as DIGESTS, LINKS } from "../shared/reminders/digests.ts";
import { EXAMPLES as CHARTS } from "./chart_host/examples.ts";
import { buildHost, showChart } from "./chart_host/show_chart.ts";
import { launchChromium } from "./chromium.ts";
import { STATES } from "./states.ts";

const KEPT = new URL("../../docs/pictures/", import.meta.url).pathname;
/** As wide as a phone and of equal size, because the README shows them side by side. */
const VIEWPORT = { width: 440, height: 640 };
/** Smaller, so that the chart fills it: all pictures have the same size in pixels. */
const CHART_VIEWPORT = { width: 374, height: 544 };
/** The total size that a reader must load. */
const MOST_BYTES = 200_000;

const PICTURES: Record<string, (page: Page) => Promise<void>> = {
  async consent(page) {
    const state = STATES.find(({ name }) => name === "consent-one")!;
    const server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {} },
      (request) => state.show(new URL(request.url).origin),
    );
    await page.goto(`http://127.0.0.1:${server.addr.port}`);
    await server.shutdown();
  },
  async chart(page) {
    const result = { content: [], structuredContent: { ok: true, data: CHARTS.budgets! } };
    await showChart(page, { host: await buildHost(), theme: "light", locale: "en-IE", result });
  },
  async digest(page) {
    const { html } = await composeDigest({ id: "1", content: DIGESTS.long! }, {
      words: wordsOf("en"),
      locale: "en-IE",
      links: LINKS,
      host: "expenses.example.com",
    });
    await page.setContent(html);
  },
};

const folder = Deno.env.get("UPDATE_PICTURES") ? KEPT : await Deno.makeTempDir({ prefix: "expense-pictures-" });
let browser: Browser;
Deno.test.beforeAll(async () => void (browser = await launchChromium()));
Deno.test.afterAll(async () => {
  await browser.close();
  if (folder !== KEPT) await Deno.remove(folder, { recursive: true });
});

for (const [name, show] of Object.entries(PICTURES)) {
  Deno.test({
    name: `the README's picture of ${name}`,
    sanitizeOps: false,
    sanitizeResources: false,
    async fn() {
      const viewport = name === "chart" ? CHART_VIEWPORT : VIEWPORT;
      const page = await browser.newPage({ viewport, deviceScaleFactor: 2 * VIEWPORT.width / viewport.width });
      await show(page);
      const path = `${folder}/${name}.png`;
      await page.screenshot({ path });
      await page.close();
      const { size } = await Deno.stat(path);
      assert(size > 10_000 && size < MOST_BYTES, `${name}: ${size} bytes`);
      assertEquals((await Deno.stat(`${KEPT}${name}.png`)).isFile, true);
    },
  });
}
