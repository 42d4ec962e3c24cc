/**
 * The reminders job: rolls bills forward, mails what falls due, refreshes exchange rates. Only the scheduler may call
 * it.
 */
import { createRecordRun } from "../../shared/db/job_run_store.ts";
import { createRemindersStore } from "../../shared/db/reminders_store.ts";
import { type App, createApp } from "../../shared/http/app.ts";
import { requireCronSecret } from "../../shared/http/caller_secret.ts";
import { runReminders } from "./run.ts";
import type { Job } from "./stage.ts";

const PATH = "/api/cron/reminders";

/** The platform ends a call after 60 s; work started before this finishes in time. */
const WORK_MS = 50_000;

/** @param options.workMs how long new work is started. */
export function createCronRemindersApp(
  deps: Omit<Job, "store" | "recordRun">,
  { workMs = WORK_MS }: { workMs?: number } = {},
): App {
  const app = createApp("cron-reminders", deps);
  const job = {
    ...deps,
    store: createRemindersStore(deps.database),
    recordRun: createRecordRun(deps.database, "reminders"),
  };

  app.get(PATH, async (c) => {
    await requireCronSecret(c, deps.config);
    return c.json(await runReminders(job, { workMs }), 200, { "cache-control": "no-store" });
  });
  return app;
}
