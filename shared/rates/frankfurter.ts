/**
 * Parses the same rates in JSON, Frankfurter v1: `GET /v1/latest?base=EUR` →
 * `{"amount":1,"base":"EUR","date":"2026-11-19","rates":{"USD":1.0944}}`.
 */
import { MalformedRates, type RateSet, rateSet } from "./rate_set.ts";

/** Keeps a number's digits as written (ECMA-262, JSON.parse source text access), so that no rate becomes a float. */
function digits(_key: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === "number" ? context?.source ?? String(value) : value;
}

/** @throws {MalformedRates} for anything but euro rates; another base would mean rounded cross rates. */
export function parseFrankfurter(json: string): RateSet {
  let body: { base?: unknown; date?: unknown; rates?: unknown } | null;
  try {
    body = JSON.parse(json, digits as (key: string, value: unknown) => unknown);
  } catch {
    throw new MalformedRates("the response is not JSON");
  }
  if (body?.base !== "EUR" || typeof body.rates !== "object" || body.rates === null) {
    throw new MalformedRates("the response has no euro rates");
  }
  return rateSet("frankfurter", body.date, Object.entries(body.rates));
}
