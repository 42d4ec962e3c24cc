/** The exchange rate sources and their order. `FX_SOURCES` is `name` or `name=base URL`, separated by commas. */
import { parseEcb } from "./ecb.ts";
import { parseFrankfurter } from "./frankfurter.ts";
import type { RateSet, SourceName } from "./rate_set.ts";

export interface RateSource {
  name: SourceName;
  url: string;
  /** @throws {MalformedRates} */
  parse(text: string): RateSet;
}

const KNOWN: Record<SourceName, { base: string; path: string; parse: RateSource["parse"] }> = {
  ecb: { base: "https://www.ecb.europa.eu", path: "/stats/eurofxref/eurofxref-daily.xml", parse: parseEcb },
  frankfurter: { base: "https://api.frankfurter.dev", path: "/v1/latest?base=EUR", parse: parseFrankfurter },
};

/** @param entries from the configuration, which accepts only these names. */
export function rateSources(entries: readonly string[]): RateSource[] {
  return entries.map((entry) => {
    const [name, ...base] = entry.split("=") as [SourceName, ...string[]];
    const known = KNOWN[name];
    return { name, url: (base.join("=") || known.base).replace(/\/+$/, "") + known.path, parse: known.parse };
  });
}
