/**
 * Parses the same rates in JSON, Frankfurter v1: `GET /v1/latest?base=EUR`, or for a day `GET /v1/2026-11-19?base=EUR`
 * → `{"amount":1,"base":"EUR","date":"2026-11-19","rates":{"USD":1.0944}}`.
 */
import { parseRates } from "./parse_rates.ts";
import { MalformedRates, type RateSet, rateSet } from "./rate_set.ts";

/** @throws {MalformedRates} for anything but euro rates; another base would mean rounded cross rates. */
export function parseFrankfurter(json: string): RateSet {
  const body = parseRates(json);
  if (body?.base !== "EUR" || typeof body.rates !== "object" || body.rates === null) {
    throw new MalformedRates("the response has no euro rates");
  }
  return rateSet("frankfurter", body.date, Object.entries(body.rates));
}
