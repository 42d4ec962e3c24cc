/** Fetches the latest exchange rates from the first source with plausible ones; otherwise the stored rates stay. */
import { describeError } from "../../shared/log.ts";
import { isConfirmed, type Refusal, refusalOf, type StoredRates } from "../../shared/rates/refusal.ts";
import { MalformedRates, type RateSet } from "../../shared/rates/rate_set.ts";
import { type RateSource, rateSources } from "../../shared/rates/sources.ts";
import type { Job, Stage } from "./stage.ts";

const LONGEST_FETCH_MS = 10_000;
/** Thirty-odd rates take 2 KB. */
const MAX_BYTES = 16_384;
/** Rates are published on working days; the longest gap is Easter, five days. */
const STALE_DAYS = 7;

interface Refreshed {
  /** Whether the latest published set is stored, fetched now or before. */
  refreshed: boolean;
  added: number;
  [count: string]: number | boolean;
}

export async function refreshRates(job: Job, stage: Stage): Promise<Refreshed> {
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

/**
 * Queries the sources in order. A set with a jump is remembered: the next source may confirm it, or have a better one.
 */
async function newestSet(
  { config, fetch, log }: Job,
  { problems, remainingMs }: Stage,
  { stored, today }: { stored: StoredRates; today: string },
): Promise<RateSet | null> {
  let doubted: RateSet | null = null;
  const refuse = ({ name }: RateSource, code: Refusal | "malformed" | "no_answer" | "out_of_time") =>
    problems.add({
      stage: "rates",
      code,
      message: `A source of exchange rates was skipped: ${REASONS[code]}.`,
      ref: name,
    });

  for (const source of rateSources(config.fxSources)) {
    if (remainingMs() <= 0) {
      refuse(source, "out_of_time");
      break;
    }
    let set: RateSet;
    try {
      set = source.parse(await read(fetch, source.url, Math.min(LONGEST_FETCH_MS, remainingMs())));
    } catch (thrown) {
      log.error("rates_not_read", { reason: source.name, error: describeError(thrown) });
      refuse(source, thrown instanceof MalformedRates ? "malformed" : "no_answer");
      continue;
    }
    const refusal = refusalOf(set, { stored, today });
    if (!refusal) return set;
    if (refusal === "jump" && doubted && isConfirmed(doubted, { stored, by: set })) return doubted;
    refuse(source, refusal);
    if (refusal === "jump") doubted ??= set;
  }
  return null;
}

const REASONS: Record<Refusal | "malformed" | "no_answer" | "out_of_time", string> = {
  malformed: "its response is malformed",
  no_answer: "it did not answer",
  out_of_time: "no time was left",
  not_positive: "a rate is not positive",
  missing_currency: "a currency that is always published is missing",
  too_few: "it has too few currencies",
  in_the_future: "its rates are dated in the future",
  jump: "a rate moved by more than a fifth",
};

/** The text of a small response. @throws for anything but 200 in time. */
async function read(fetch: Job["fetch"], url: string, timeoutMs: number): Promise<string> {
  const response = await fetch(url, {
    signal: AbortSignal.timeout(timeoutMs),
    headers: { accept: "application/xml, application/json" },
  });
  if (response.status !== 200 || !response.body) {
    await response.body?.cancel();
    throw new Error(`answered ${response.status}`);
  }
  let text = "";
  let bytes = 0;
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error("the response is too large");
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

const daysBetween = (earlier: string, later: string) => (Date.parse(later) - Date.parse(earlier)) / 86_400_000;
