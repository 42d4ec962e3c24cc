/** What counts as a set of exchange rates, in the sources' formats, and which sets are refused. */
import { assertEquals, assertThrows } from "@std/assert";
import { parseEcb } from "../../../shared/rates/ecb.ts";
import { parseFrankfurter } from "../../../shared/rates/frankfurter.ts";
import { MalformedRates, type RateSet } from "../../../shared/rates/rate_set.ts";
import { isConfirmed, refusalOf } from "../../../shared/rates/refusal.ts";
import { rateSources } from "../../../shared/rates/sources.ts";
import { ecbXml, frankfurterJson } from "../../functions/cron-reminders/harness.ts";

Deno.test("parseEcb() reads the central bank's file, in either style of quotes, digit for digit", () => {
  for (const quote of ["'", '"']) {
    const set = parseEcb(ecbXml("2026-11-19", { rates: { USD: "1.0940", IDR: "18123.45" }, quote }));
    assertEquals([set.source, set.publishedOn, set.perEuro.USD, set.perEuro.IDR], [
      "ecb",
      "2026-11-19",
      "1.0940",
      "18123.45",
    ]);
    assertEquals(Object.keys(set.perEuro).length, 29);
  }
});

Deno.test("parseEcb() accepts nothing else", () => {
  const good = ecbXml("2026-11-19");
  const bad = [
    "",
    "<!doctype html><html><body><h1>Service unavailable</h1><br></body></html>",
    "<html><body>Down for maintenance</body></html>",
    `{"base":"EUR"}`,
    good.slice(0, -30),
    good.replace("2026-11-19", "19 November"),
    good.replace("time='2026-11-19'", ""),
    good.replace("rate='1.5'", "rate='1,5'"),
    good.replace("rate='1.5'", "rate='-1.5'"),
    good.replace("rate='1.5'", "rate='1e5'"),
    good.replace("rate='1.5'", ""),
    good.replace("currency='USD'", "currency='usd'"),
    `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "1.5">]>` +
    good.slice(good.indexOf("?>") + 2).replace("rate='1.5'", "rate='&x;'"),
  ];
  for (const text of bad) assertThrows(() => parseEcb(text), MalformedRates, undefined, text.slice(0, 60));
});

Deno.test("parseFrankfurter() keeps the digits of the numbers", () => {
  const set = parseFrankfurter(frankfurterJson("2026-11-19", { USD: "1.0940", JPY: "168.20", IDR: "18123.10" }));
  assertEquals([set.perEuro.USD, set.perEuro.JPY, set.perEuro.IDR], ["1.0940", "168.20", "18123.10"]);
  for (
    const text of [
      "",
      "null",
      "[]",
      "<html></html>",
      `{"base":"USD","date":"2026-11-19","rates":{"EUR":0.9}}`,
      `{"base":"EUR","rates":{}}`,
      `{"base":"EUR","date":"2026-11-19","rates":{"USD":"dear"}}`,
    ]
  ) {
    assertThrows(() => parseFrankfurter(text), MalformedRates, undefined, text);
  }
});

const setOf = (rates: Record<string, string> = {}, publishedOn = "2026-11-19"): RateSet =>
  parseEcb(ecbXml(publishedOn, { rates }));
const without = (set: RateSet, ...codes: string[]): RateSet => ({
  ...set,
  perEuro: Object.fromEntries(Object.entries(set.perEuro).filter(([code]) => !codes.includes(code))),
});
const stored = setOf().perEuro;
const today = "2026-11-20";

Deno.test("refusalOf() accepts a set of the last working day, weekends and Easter included", () => {
  for (const day of ["2026-11-20", "2026-11-19", "2026-11-15"]) {
    assertEquals(refusalOf(setOf({}, day), { stored, today }), null);
  }
  assertEquals(refusalOf(setOf({ USD: "1.79" }), { stored, today }), null);
  assertEquals(refusalOf(setOf({ USD: "900" }), { stored: {}, today }), null);
});

Deno.test("refusalOf() refuses implausible sets", () => {
  const few = without(setOf(), ...Object.keys(stored).slice(5, 20));
  const cases: [RateSet, string][] = [
    [setOf({ SEK: "0" }), "not_positive"],
    [setOf({ SEK: "0.0000" }), "not_positive"],
    [without(setOf(), "USD"), "missing_currency"],
    [without(setOf(), "GBP"), "missing_currency"],
    [without(setOf(), "JPY"), "missing_currency"],
    [few, "too_few"],
    [setOf({}, "2026-11-21"), "in_the_future"],
    [setOf({ USD: "15" }), "jump"],
    [setOf({ SEK: "1.81" }), "jump"],
    [setOf({ SEK: "1.19" }), "jump"],
  ];
  for (const [set, refusal] of cases) assertEquals(refusalOf(set, { stored, today }), refusal);
});

Deno.test("isConfirmed() asks a second source for every rate that jumped", () => {
  const jumped = setOf({ TRY: "2.5", ARS: "3" });
  assertEquals(isConfirmed(jumped, { stored, by: setOf({ TRY: "2.52" }) }), true);
  assertEquals(isConfirmed(jumped, { stored, by: setOf() }), false);
  assertEquals(isConfirmed(jumped, { stored, by: without(setOf(), "TRY") }), false);
});

Deno.test("rateSources() tries the sources in order, at an overridden base if given", () => {
  assertEquals(rateSources(["ecb", "frankfurter"]).map(({ url }) => url), [
    "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml",
    "https://api.frankfurter.dev/v1/latest?base=EUR",
  ]);
  assertEquals(
    rateSources(["frankfurter=http://127.0.0.1:5/fx/", "ecb=https://mirror.example"]).map(({ url }) => url),
    [
      "http://127.0.0.1:5/fx/v1/latest?base=EUR",
      "https://mirror.example/stats/eurofxref/eurofxref-daily.xml",
    ],
  );
});
