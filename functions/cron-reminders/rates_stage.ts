/**
 * Fetches the latest exchange rates from the first source with plausible ones; if none has any, the stored rates stay.
 */
import { describeError } from "../../shared/log.ts";
import { isConfirmed, refusalOf, type StoredRates } from "../../shared/rates/refusal.ts";
import { MalformedRates, type RateSet } from "../../shared/rates/rate_set.ts";
import { latestSources } from "../../shared/rates/sources.ts";
import { readRates } from "./read_rates.ts";
import { refuseRates } from "./refuse_rates.ts";
import type { Job, Stage } from "./stage.ts";

/** Rates appear on working days; the longest gap is Easter, with five days. */
const STALE_DAYS = 7;

interface Refreshed {
  /** Whether the latest published set is stored, from this run or an earlier one. */
  refreshed: boolean;
  added: number;
  [count: string]: number | boolean;
}

export async function refreshRates(job: Job, stage: Stage): Promise<Refreshed> {
  if (job.config.fxSources.length === 0) return { refreshed: false, added: 0 };
  const today = job.clock().toISOString().slice(0, 10);
  const kept = await job.store.readNewestRates();
  const set = await newestSet(job, stage, { stored: kept.per_euro, today });
  const added = set ? (await job.store.storeRates(set, job.clock())).added : 0;
  const newest = [kept.rates_on, set?.publishedOn].filter((day) => typeof day === "string").toSorted().at(-1);
  if (!newest || daysBetween(newest, today) > STALE_DAYS) {
    const message = newest ? `The latest exchange rates are from ${newest}.` : "There are no exchange rates yet.";
    stage.problems.add({ stage: "rates", code: "stale", message, ref: newest ?? null });
  }
  return { refreshed: set !== null, added };
}

/** Queries the sources in order. A set with a jump waits until the next source confirms it or provides a better set. */
async function newestSet(
  { config, fetch, log }: Job,
  { problems, remainingMs }: Stage,
  { stored, today }: { stored: StoredRates; today: string },
): Promise<RateSet | null> {
  let doubted: RateSet | null = null;
  for (const source of latestSources(config.fxSources)) {
    if (remainingMs() <= 0) {
      refuseRates(problems, source.name, "out_of_time");
      break;
    }
    let set: RateSet;
    try {
      set = await readRates(fetch, source, remainingMs());
    } catch (thrown) {
      log.error("rates_not_read", { reason: source.name, error: describeError(thrown) });
      refuseRates(problems, source.name, thrown instanceof MalformedRates ? "malformed" : "no_answer");
      continue;
    }
    const refusal = refusalOf(set, { stored, today });
    if (!refusal) return set;
    if (refusal === "jump" && doubted && isConfirmed(doubted, { stored, by: set })) return doubted;
    refuseRates(problems, source.name, refusal);
    if (refusal === "jump") doubted ??= set;
  }
  return null;
}

const daysBetween = (earlier: string, later: string) => (Date.parse(later) - Date.parse(earlier)) / 86_400_000;
