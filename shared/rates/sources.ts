/** The exchange rate sources and their order. `FX_SOURCES` is `name` or `name=base URL`, separated by commas. */
import { parseCentralBanks } from "./central_banks.ts";
import { parseEcb } from "./ecb.ts";
import { parseFrankfurter } from "./frankfurter.ts";
import type { RateSet, SourceName } from "./rate_set.ts";

export interface RateSource {
  name: SourceName;
  url: string;
  /** @throws {MalformedRates} */
  parse(text: string): RateSet;
}

interface Known {
  base: string;
  /** The newest rates, if the source has a separate path for them. */
  latest?: string;
  /** The rates that applied on a day. */
  ofDay?: (day: string) => string;
  parse: RateSource["parse"];
}

const KNOWN: Record<SourceName, Known> = {
  ecb: { base: "https://www.ecb.europa.eu", latest: "/stats/eurofxref/eurofxref-daily.xml", parse: parseEcb },
  frankfurter: {
    base: "https://api.frankfurter.dev",
    latest: "/v1/latest?base=EUR",
    ofDay: (day) => `/v1/${day}?base=EUR`,
    parse: parseFrankfurter,
  },
  central_banks: {
    base: "https://api.frankfurter.dev",
    ofDay: (day) => `/v2/rates?base=EUR&date=${day}`,
    parse: parseCentralBanks,
  },
};

/**
 * The sources of the newest rates; each replaces those before it if they fail.
 * @param entries from the configuration, which accepts only known names.
 */
export const latestSources = (entries: readonly string[]): RateSource[] => sources(entries, ({ latest }) => latest);

/**
 * The sources of a day's rates. The job queries all of them, because one has the central bank's rates and another has
 * more currencies.
 */
export const sourcesOfDay = (entries: readonly string[], day: string): RateSource[] =>
  sources(entries, ({ ofDay }) => ofDay?.(day));

function sources(entries: readonly string[], pathOf: (known: Known) => string | undefined): RateSource[] {
  return entries.flatMap((entry) => {
    const [name, ...base] = entry.split("=") as [SourceName, ...string[]];
    const known = KNOWN[name];
    const path = pathOf(known);
    return path ? [{ name, url: (base.join("=") || known.base).replace(/\/+$/, "") + path, parse: known.parse }] : [];
  });
}
