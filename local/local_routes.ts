/**
 * The mailbox, the clock and the stand-ins for external services: routes of the embedded stack only. They show sign-in
 * mails, so they have a separate loopback port that no proxy of the site reaches, and an unguessable path. They refuse
 * forwarded requests. `Host` can only cause a refusal (DNS rebinding), never an acceptance, because a proxy may
 * rewrite it.
 */
import { Hono } from "hono";
import { isLoopback } from "../shared/net/loopback.ts";
import type { MovableClock } from "./clock.ts";
import { createProvidersFixture } from "./fixtures/providers/app.ts";
import { isForwarded } from "./forwarded.ts";
import { renderMailbox } from "./mail/mailbox_page.tsx";
import type { MailSink } from "./mail/smtp_sink.ts";

export interface LocalOptions {
  /** The prefix of every path: `/` and a secret. */
  base: string;
  /** Base URL of the site, for links back to it. */
  siteUrl: string;
  mail: Pick<MailSink, "list" | "clear">;
  clock: MovableClock;
  /** Creates a sign-in link for the demo user, with a query; undefined without demo data. */
  demoLink?: () => Promise<string>;
}

export function createLocalRoutes({ base, siteUrl, mail, clock, demoLink }: LocalOptions): Hono {
  const app = new Hono();
  app.use(async (c, next) => {
    if (isFromElsewhere(c.req.raw)) return c.text("Only from this machine\n", 403);
    await next();
  });
  app.route(base, createPages({ base, siteUrl, mail, clock, demoLink }));
  return app;
}

function createPages({ base, siteUrl, mail, clock, demoLink }: LocalOptions): Hono {
  const app = new Hono();
  app.get("/mail", async (c) => {
    const to = c.req.query("to");
    const mails = mail.list(to);
    return c.req.header("accept")?.includes("text/html")
      ? await renderMailbox(mails, { to, siteUrl, path: `${base}/mail` })
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

  app.route("/providers", createProvidersFixture({ clock: clock.now }));

  // The target of "Sign in as …" on the login page: redirects to the page of a mailed link, without sending the mail.
  app.get("/sign-in", async (c) => {
    if (!demoLink) return c.text("This stack has no demo data\n", 404);
    const next = c.req.query("next");
    return c.redirect(await demoLink() + (next ? `&${new URLSearchParams({ next })}` : ""), 303);
  });
  return app;
}

/** Another site may have made a browser send the request, or a proxy forwarded it. */
function isFromElsewhere({ headers, method, url }: Request): boolean {
  const origin = headers.get("origin");
  const isForeign = origin !== null && !(URL.canParse(origin) && isLoopback(new URL(origin).hostname));
  const isCrossSite = headers.get("sec-fetch-site") === "cross-site" && method !== "GET";
  return isForeign || isCrossSite || isForwarded(headers) || !isLoopback(new URL(url).hostname);
}

const time = (clock: MovableClock) => ({ now: clock.now().toISOString(), offset_ms: clock.offsetMs() });
