/**
 * The embedded stack's first rates, from a deployment's sources. If no source responds, a dated snapshot of real rates
 * provides provisional values.
 */
import { ratePastDays } from "../../functions/cron-reminders/past_rates_stage.ts";
import { refreshRates } from "../../functions/cron-reminders/rates_stage.ts";
import type { JobDeps } from "../../functions/cron-reminders/stage.ts";
import { createRemindersStore } from "../../shared/db/reminders_store.ts";
import { describeError } from "../../shared/log.ts";
import { Problems } from "../../shared/jobs/problems.ts";
import { SNAPSHOT_DAY, SNAPSHOT_PER_EURO } from "./snapshot.ts";

/** The longest delay of a start without a network. */
const LONGEST_MS = 4_000;
const PAST_DAYS_MS = 50_000;
/** Over a weekend the newest rates are Friday's; the daily job fetches the next ones on Monday. */
const FRESH_DAYS = 4;

/**
 * @param isDemo whether to use the snapshot without querying a source.
 * @param isReal whether to start without rates until a source responds.
 * @returns whether the snapshot is in use.
 */
export async function provideRates(
  deps: JobDeps,
  { isDemo, isReal = false, onProgress }: { isDemo: boolean; isReal?: boolean; onProgress(line: string): void },
): Promise<boolean> {
  const store = createRemindersStore(deps.database);
  const at = deps.clock();
  if (!isDemo) {
    const { rates_on } = await store.readNewestRates();
    const isFresh = rates_on !== null && at.getTime() - Date.parse(rates_on) < FRESH_DAYS * 86_400_000;
    if (isFresh) return false;
    onProgress("Fetching exchange rates.");
    if (await fetchRates(deps, at) || isReal) return false;
  }
  await store.storeRates({ source: "snapshot", publishedOn: SNAPSHOT_DAY, perEuro: SNAPSHOT_PER_EURO }, at);
  return true;
}

/** @returns whether the central bank's newest rates are stored. Rates of other currencies and past days may follow. */
async function fetchRates(deps: JobDeps, at: Date): Promise<boolean> {
  const startedAt = performance.now();
  const job = { ...deps, store: createRemindersStore(deps.database), recordRun: () => Promise.resolve() };
  const within = (ms: number) => ({
    problems: new Problems(),
    at,
    remainingMs: () => startedAt + ms - performance.now(),
  });
  const { refreshed } = await refreshRates(job, within(LONGEST_MS));
  if (refreshed) {
    // If the stack stops earlier, the daily job completes this work.
    ratePastDays(job, within(PAST_DAYS_MS)).catch((thrown) =>
      deps.log.error("rates_not_read", { error: describeError(thrown) })
    );
  }
  return refreshed;
}
