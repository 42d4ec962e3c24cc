/**
 * The job that fetches the amounts of variable bills from their providers for past months. Only the scheduler may call
 * it.
 */
import { createCredentialStore } from "../../shared/db/credential_store.ts";
import { createRecordRun } from "../../shared/db/job_run_store.ts";
import { createProviderStore } from "../../shared/db/provider_store.ts";
import type { Deps } from "../../shared/deps.ts";
import { AppError } from "../../shared/errors.ts";
import { type App, type AppContext, createApp } from "../../shared/http/app.ts";
import { requireCronSecret } from "../../shared/http/caller_secret.ts";
import { createAsk } from "../../shared/providers/ask.ts";
import { lastPeriod, type Period, readPeriod } from "../../shared/providers/period.ts";
import { PROVIDERS, type Registry } from "../../shared/providers/registry.ts";
import { type Job, type RunLimits, runProviderSync } from "./run.ts";

const PATH = "/api/cron/provider-sync";

/** The platform ends a call after 60 s: no link is started after 50, and every query is aborted by 58. */
const LIMITS: RunLimits = { workMs: 50_000, endMs: 58_000, linkMs: 10_000, concurrency: 6 };

/** @param options for tests: their own providers, and less time. */
export function createCronProviderSyncApp(
  deps: Deps,
  { registry = PROVIDERS, limits = {} }: { registry?: Registry; limits?: Partial<RunLimits> } = {},
): App {
  const { config, database, clock, log } = deps;
  const app = createApp("cron-provider-sync", deps);
  const job: Job = {
    store: createProviderStore(database),
    recordRun: createRecordRun(database, "provider-sync"),
    ask: createAsk({
      ...deps,
      registry,
      keys: config.credentialsKeys,
      bases: config.providerBases,
      reseal: createCredentialStore(database).resealCredential,
    }),
    clock,
    log,
  };

  app.get(PATH, async (c) => {
    await requireCronSecret(c, config);
    const asked = askedPeriod(c, clock());
    const period = asked ?? lastPeriod(clock());
    // Naming a month also refetches what is already stored.
    const answer = await runProviderSync(job, { period, again: asked !== null }, { ...LIMITS, ...limits });
    return c.json(answer, 200, { "cache-control": "no-store" });
  });
  return app;
}

/** @throws {AppError} `invalid_request` unless it is a single past month. */
function askedPeriod(c: AppContext, now: Date): Period | null {
  const given = c.req.queries("period");
  if (!given) return null;
  const period = given.length === 1 ? readPeriod(given[0]!, now) : null;
  if (!period) {
    throw new AppError("invalid_request", "period must be a past month in UTC: YYYY-MM or YYYY-MM-01.");
  }
  return period;
}
