/** The system's Chromium, driven by playwright-core. */
import { type Browser, chromium } from "playwright-core";

/** @throws {Error} if it is missing; the variable `CHROMIUM` can name it */
export const launchChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: Deno.env.get("CHROMIUM") ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
