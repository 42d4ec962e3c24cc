/** Fetches one set of exchange rates, with limits on size and time. */
import type { RateSet } from "../../shared/rates/rate_set.ts";
import type { RateSource } from "../../shared/rates/sources.ts";
import type { Job } from "./stage.ts";

const LONGEST_FETCH_MS = 10_000;
/** About thirty rates take 2 KB, all currencies 11 KB. */
const MAX_BYTES = 32_768;

/** The source has no rates for the requested day, which is a valid response. */
export class NoRates extends Error {
  override readonly name = "NoRates";
}

/** @throws {MalformedRates} {@link NoRates} for 404, and the errors of `fetch` */
export const readRates = async (fetch: Job["fetch"], source: RateSource, remainingMs: number): Promise<RateSet> =>
  source.parse(await read(fetch, source.url, Math.min(LONGEST_FETCH_MS, remainingMs)));

/** The text of a small response. @throws for any status but 200, and after the time limit. */
async function read(fetch: Job["fetch"], url: string, timeoutMs: number): Promise<string> {
  const response = await fetch(url, {
    signal: AbortSignal.timeout(timeoutMs),
    headers: { accept: "application/xml, application/json" },
  });
  if (response.status !== 200 || !response.body) {
    await response.body?.cancel();
    if (response.status === 404) throw new NoRates();
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
