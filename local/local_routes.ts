/**
 * `/local/…`: routes of the embedded stack only. They expose mails and move the clock, so they answer to loopback
 * names only (DNS rebinding could otherwise reach them) and accept changes from no other site.
 */
import { Hono } from "hono";
import { isLoopback } from "../shared/net/loopback.ts";
import type { MovableClock } from "./clock.ts";
import { createRatesFixture } from "./fixtures/exchange_rates.ts";
import { createProvidersFixture } from "./fixtures/providers/app.ts";
import { renderMailbox } from "./mail/mailbox_page.tsx";
import type { MailSink } from "./mail/smtp_sink.ts";

export interface LocalOptions {
  mail: MailSink;
  clock: MovableClock;
  /** Whether everything behind the front door is up. */
  isHealthy(): Promise<boolean>;
  /** Token hash of a new sign-in link for the demo user; undefined without demo data. */
  demoToken?: () => Promise<string>;
}

export function createLocalRoutes({ mail, clock, isHealthy, demoToken }: LocalOptions): Hono {
  const app = new Hono().basePath("/local");

  app.use(async (c, next) => {
    const { hostname, host } = new URL(c.req.url);
    const origin = c.req.header("origin");
    const site = c.req.header("sec-fetch-site");
    const isForeign = site
      ? site !== "same-origin" && site !== "none"
      : origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host);
    if (!isLoopback(hostname) || (isForeign && c.req.method !== "GET")) {
      return c.text("Only from this machine\n", 403);
    }
    await next();
  });

  app.get("/health", async (c) => await isHealthy() ? c.json({ ok: true }) : c.json({ ok: false }, 503));

  app.get("/mail", async (c) => {
    const mails = mail.list(c.req.query("to"));
    return c.req.header("accept")?.includes("text/html")
      ? await renderMailbox(mails, c.req.query("to"))
      : c.json(mails);
  });
  app.delete("/mail", (c) => {
    mail.clear();
    return c.body(null, 204);
  });

  app.get("/clock", (c) => c.json(time(clock)));
  app.post("/clock", async (c) => {
    const { now }: { now?: unknown } = await c.req.json().catch(() => ({}));
    const to = now === null ? null : new Date(typeof now === "string" ? now : NaN);
    if (to && Number.isNaN(to.getTime())) {
      return c.json({ error: 'Send {"now": "2026-12-01T08:00:00Z"}, or null for real time' }, 400);
    }
    clock.move(to);
    return c.json(time(clock));
  });

  app.route("/fx", createRatesFixture(clock.now));
  app.route("/providers", createProvidersFixture({ clock: clock.now }));

  // The "Sign in as …" button of the login page: a sign-in link without the mail, already confirmed (307 keeps the
  // POST, and with it the address and the browser token in the form).
  app.post("/sign-in", async (c) => {
    if (!demoToken) return c.text("This stack has no demo data\n", 404);
    const { next } = await c.req.parseBody();
    const query = new URLSearchParams({ token_hash: await demoToken(), type: "magiclink" });
    if (typeof next === "string" && next) query.set("next", next);
    return c.redirect(`/auth/callback?${query}`, 307);
  });
  return app;
}

const time = (clock: MovableClock) => ({ now: clock.now().toISOString(), offset_ms: clock.offsetMs() });
