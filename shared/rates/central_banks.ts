/**
 * Parses rates of all currencies in use, which Frankfurter v2 blends from the publications of central banks: `GET
 * /v2/rates?date=2026-11-19` → `[{"date":"2026-11-19","base":"EUR","quote":"AED","rate":4.0192}, …]`. A bank that does
 * not publish daily contributes the rates of its last published day.
 */
import { isDay } from "../iso_day.ts";
import { parseRates } from "./parse_rates.ts";
import { isRate, MalformedRates, type RateSet } from "./rate_set.ts";

/** Twice the number of currencies in use. */
const MAX_ROWS = 400;
const CODE = /^[A-Z]{3}$/;

/**
 * Omits rows without a plain decimal rate of a currency, because one bank's mistake must not affect the others.
 * @throws {MalformedRates} for anything but euro rates
 */
export function parseCentralBanks(json: string): RateSet {
  const rows = parseRates(json);
  if (!Array.isArray(rows) || rows.length > MAX_ROWS) throw new MalformedRates("the response is no list of rates");
  const perEuro: Record<string, string> = {};
  const days: Record<string, string> = {};
  let publishedOn = "";
  for (const row of rows) {
    if (row?.base !== "EUR") throw new MalformedRates("the response has no euro rates");
    if (typeof row.quote !== "string" || !CODE.test(row.quote) || !isDay(row.date) || !isRate(row.rate)) continue;
    perEuro[row.quote] = row.rate;
    days[row.quote] = row.date;
    if (row.date > publishedOn) publishedOn = row.date;
  }
  if (publishedOn === "") throw new MalformedRates("the response has no rates");
  return { source: "central_banks", publishedOn, perEuro, days };
}
