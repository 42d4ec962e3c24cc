/**
 * `deno task build`: builds the page of the spending chart, one self-contained HTML file, as a module that the
 * connector ships. A test rebuilds and compares it.
 */
import { Buffer } from "node:buffer";
import { fileURLToPath } from "node:url";
import { build, stop } from "esbuild";
// Imported only so that Deno installs it for esbuild.
import "d3-scale";
import { chartPage } from "../shared/words/en/chart_page.ts";

const CHART = new URL("../functions/mcp/chart/", import.meta.url);
export const CHART_MODULE = new URL("page.ts", CHART);

export async function buildChart(): Promise<string> {
  const script = await bundle(fileURLToPath(new URL("view/main.ts", CHART)));
  const style = await bundle(fileURLToPath(new URL("view/page.css", CHART)));
  // The page can't load or send anything, whatever the host allows; the hash of inline code must match the build.
  const policy = `default-src 'none'; script-src '${await hashOf(script)}'; style-src '${await hashOf(style)}'`;
  const html = [
    `<!doctype html><html lang="en"><head><meta charset="utf-8">`,
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    `<meta name="viewport" content="width=device-width, initial-scale=1"><title>${chartPage.title}</title>`,
    `<style>${style}</style></head><body><main aria-busy="true"></main><script>${script}</script></body></html>`,
  ].join("");
  return [
    "/** The chart's page, built from view/ by `deno task build`; do not edit. */",
    "// deno-fmt-ignore",
    `export const CHART_PAGE = ${JSON.stringify(html)};`,
    "",
  ].join("\n");
}

async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    logLevel: "error",
  });
  await stop();
  return outputFiles[0]!.text.trim();
}

async function hashOf(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return `sha256-${Buffer.from(digest).toString("base64")}`;
}

if (import.meta.main) await Deno.writeTextFile(CHART_MODULE, await buildChart());
