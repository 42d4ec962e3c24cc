/**
 * The job that fetches the amounts of variable bills from their providers for past months. Only the scheduler may call
 * it, and its code loads only then.
 */
import type { Deps } from "../../shared/deps.ts";
import { AppError } from "../../shared/errors.ts";
import { type App, type AppContext, createApp } from "../../shared/http/app.ts";
import { requireCronSecret } from "../../shared/http/caller_secret.ts";
import { lastPeriod, type Period, readPeriod } from "../../shared/providers/period.ts";
import type { Registry } from "../../shared/providers/registry.ts";
import type { RunLimits } from "./run.ts";

const PATH = "/api/cron/provider-sync";

/** The platform ends a call after 60 s. The job starts no link after 50 s and aborts every query by 58 s. */
const LIMITS: RunLimits = { workMs: 50_000, endMs: 58_000, linkMs: 10_000, concurrency: 6 };

/** @param options for tests: other providers and shorter limits */
export function createCronProviderSyncApp(
  deps: Deps,
  { registry, limits = {} }: { registry?: Registry; limits?: Partial<RunLimits> } = {},
): App {
  const { config, clock } = deps;
  const app = createApp("cron-provider-sync", deps);

  app.get(PATH, async (c) => {
    requireCronSecret(c, config);
    const asked = askedPeriod(c, clock());
    const period = asked ?? lastPeriod(clock());
    const [{ createJob }, { runProviderSync }] = await Promise.all([import("./job.ts"), import("./run.ts")]);
    // Naming a month also fetches stored amounts again.
    const answer = await runProviderSync(createJob(deps, registry), { period, again: asked !== null }, {
      ...LIMITS,
      ...limits,
    });
    return c.json(answer, 200, { "cache-control": "no-store" });
  });
  return app;
}

/** @throws {AppError} `invalid_request` unless the value is a single past month. */
function askedPeriod(c: AppContext, now: Date): Period | null {
  const given = c.req.queries("period");
  if (!given) return null;
  const period = given.length === 1 ? readPeriod(given[0]!, now) : null;
  if (!period) {
    throw new AppError("invalid_request", "period must be a past month in UTC: YYYY-MM or YYYY-MM-01.");
  }
  return period;
}
