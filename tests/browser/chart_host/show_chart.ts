/// <reference lib="dom" />
/** The chart in its own page, framed by a minimal host that resembles an assistant. */
import { build, stop } from "esbuild";
import type { Frame, Page } from "playwright-core";
import { CHART_PAGE } from "../../../functions/mcp/chart/page.ts";
import type {} from "./host.ts";
// Imported only so that Deno installs it for esbuild.
import "@modelcontextprotocol/ext-apps/app-bridge";

/** The host's script. */
export async function buildHost(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [new URL("host.ts", import.meta.url).pathname],
    bundle: true,
    write: false,
    format: "iife",
    logLevel: "error",
  });
  await stop();
  return outputFiles[0]!.text;
}

/** Resolves to the chart's frame once it has drawn. @param result of the tool */
export async function showChart(
  page: Page,
  { host, theme, result, locale }: { host: string; theme: string; result: Record<string, unknown>; locale: string },
): Promise<Frame> {
  await page.setContent(
    `<!doctype html><style>body{margin:0;background:${
      theme === "dark" ? "#1c1d20" : "#fff"
    }} iframe{border:0;width:100%;display:block}</style>`,
  );
  await page.addScriptTag({ content: host });
  await page.evaluate((shown) => globalThis.show(shown), {
    page: CHART_PAGE,
    result,
    context: { theme, locale },
  } as never);
  const frame = page.frames()[1]!;
  await frame.waitForSelector("main:not([aria-busy])");
  return frame;
}
