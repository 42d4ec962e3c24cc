import type { Browser } from "./harness.ts";

/** Fills in one of the export page's two forms and submits it. */
export async function download(browser: Browser, path: string, what: string, fields: Record<string, string> = {}) {
  const page = await (await browser.get(path)).text();
  return await browser.submit(page, `value="${what}"`, fields);
}
