/**
 * Fetches missing exchange rates of past days: for imported and backdated payments, for days whose fetch failed, and
 * for yesterday in all currencies. Then values the waiting payments.
 */
import { describeError } from "../../shared/log.ts";
import { MalformedRates, type RateSet } from "../../shared/rates/rate_set.ts";
import { isConfirmed, refusalOfDay, withoutJumps } from "../../shared/rates/refusal.ts";
import { type RateSource, sourcesOfDay } from "../../shared/rates/sources.ts";
import type { Cursor } from "../../shared/db/reminders_store.ts";
import { NoRates, readRates } from "./read_rates.ts";
import { refuseRates } from "./refuse_rates.ts";
import type { Job, Stage } from "./stage.ts";

/** Limits the load on free services; a backlog takes several runs. */
const MAX_DAYS = 60;
const PAGE = 500;

interface Counts {
  days: number;
  settled: number;
  [count: string]: number;
}

export async function ratePastDays(job: Job, stage: Stage): Promise<Counts> {
  const days = await job.store.findDaysToRate({ at: stage.at, size: MAX_DAYS });
  // Do not query a source again in this run once it fails.
  const down = new Set<string>();
  let asked = 0;
  for (const day of days) {
    const sources = sourcesOfDay(job.config.fxSources, day);
    if (stage.remainingMs() <= 0 || sources.every(({ name }) => down.has(name))) break;
    const isAnswered = await rateDay(job, stage, { day, sources, down });
    await job.store.settleDay({ day, isAnswered, at: job.clock() });
    asked++;
  }
  return { days: asked, settled: await settleAll(job, stage) };
}

/** Stores the rates of each source for a day. @returns whether all of them responded. */
async function rateDay(
  job: Job,
  stage: Stage,
  { day, sources, down }: { day: string; sources: RateSource[]; down: Set<string> },
): Promise<boolean> {
  let isAnswered = true;
  let doubted: RateSet | null = null;
  for (const source of sources) {
    const read = down.has(source.name) ? "failed" : await ask(job, stage, source, down);
    if (read === "failed") isAnswered = false;
    if (typeof read === "string") continue;
    const stored = await job.store.readRatesOfDay(day);
    const refusal = refusalOfDay(read, { stored, day });
    if (refusal === "too_old") continue;
    if (refusal) {
      refuseRates(stage.problems, source.name, refusal);
      isAnswered = false;
      if (refusal === "jump") doubted = read;
      continue;
    }
    if (doubted && isConfirmed(doubted, { stored, by: read })) {
      await job.store.storeRates(doubted, job.clock());
      isAnswered = true;
    }
    const { set, left_out } = source.name === "central_banks"
      ? withoutJumps(read, stored)
      : { set: read, left_out: [] };
    if (left_out.length > 0) refuseRates(stage.problems, source.name, "jump");
    await job.store.storeRates(set, job.clock());
  }
  return isAnswered && stage.remainingMs() > 0;
}

/** A set of rates, or the reason why it is missing. */
async function ask(
  { fetch, log }: Job,
  { problems, remainingMs }: Stage,
  source: RateSource,
  down: Set<string>,
): Promise<RateSet | "nothing" | "failed"> {
  try {
    return await readRates(fetch, source, Math.max(remainingMs(), 1));
  } catch (thrown) {
    if (thrown instanceof NoRates) return "nothing";
    const isMalformed = thrown instanceof MalformedRates;
    log.error("rates_not_read", { reason: source.name, error: describeError(thrown) });
    refuseRates(problems, source.name, isMalformed ? "malformed" : "no_answer");
    if (!isMalformed) down.add(source.name);
    return "failed";
  }
}

async function settleAll({ store }: Job, { remainingMs }: Stage): Promise<number> {
  let settled = 0;
  let after: Cursor = null;
  do {
    const page = await store.settleValues({ after, size: PAGE });
    settled += page.settled;
    after = page.next;
  } while (after !== null && remainingMs() > 0);
  return settled;
}
