/**
 * The reminders job: rolls bills forward, mails reminders, refreshes exchange rates, sends events to apps, reads
 * forwarded mail. It also serves the health checks of jobs and mail. All of it requires the scheduler's secret, and
 * its code loads only then.
 */
import type { Deps } from "../../shared/deps.ts";
import { type App, createApp } from "../../shared/http/app.ts";
import { requireCronSecret } from "../../shared/http/caller_secret.ts";
import type { RunLimits } from "./run.ts";

const PATH = "/api/cron/reminders";
const HEALTH_PATH = "/api/health/jobs";
const TEST_MAIL_PATH = "/api/health/mail";

/** The platform ends a call after 60 s; work that starts before this limit finishes in time. */
const WORK_MS = 50_000;

/** @param limits for tests. */
export function createCronRemindersApp(
  deps: Deps,
  limits: Partial<RunLimits> = {},
): App {
  const app = createApp("cron-reminders", deps);

  app.get(PATH, async (c) => {
    requireCronSecret(c, deps.config);
    const { runReminders } = await import("./run.ts");
    const only = c.req.query("only");
    const answer = await runReminders(deps, {
      workMs: WORK_MS,
      rollsOnly: only === "roll",
      sendsEventsOnly: only === "events",
      readsMailOnly: only === "inbound",
      ...limits,
    });
    return c.json(answer, 200, { "cache-control": "no-store" });
  });

  app.get(HEALTH_PATH, async (c) => {
    requireCronSecret(c, deps.config);
    const { answerJobsHealth } = await import("./health.ts");
    return await answerJobsHealth(c, deps);
  });
  app.post(TEST_MAIL_PATH, async (c) => {
    requireCronSecret(c, deps.config);
    const { sendTestMail } = await import("./test_mail.ts");
    return await sendTestMail(c, deps);
  });
  return app;
}
