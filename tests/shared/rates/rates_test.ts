/** Parsing and validation of exchange rates in the sources' formats. */
import { assertEquals, assertThrows } from "@std/assert";
import { parseCentralBanks } from "../../../shared/rates/central_banks.ts";
import { parseEcb } from "../../../shared/rates/ecb.ts";
import { parseFrankfurter } from "../../../shared/rates/frankfurter.ts";
import { MalformedRates, type RateSet } from "../../../shared/rates/rate_set.ts";
import { isConfirmed, refusalOf, refusalOfDay, withoutJumps } from "../../../shared/rates/refusal.ts";
import { latestSources, sourcesOfDay } from "../../../shared/rates/sources.ts";
import { centralBanksJson, ecbXml, frankfurterJson } from "../../functions/cron-reminders/harness.ts";

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

Deno.test("parseEcb() rejects every other file", () => {
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

Deno.test("refusalOf() accepts a set of the last working day, even across weekends and Easter", () => {
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

Deno.test("isConfirmed() requires a second source for every rate that jumped", () => {
  const jumped = setOf({ TRY: "2.5", ARS: "3" });
  assertEquals(isConfirmed(jumped, { stored, by: setOf({ TRY: "2.52" }) }), true);
  assertEquals(isConfirmed(jumped, { stored, by: setOf() }), false);
  assertEquals(isConfirmed(jumped, { stored, by: without(setOf(), "TRY") }), false);
});

Deno.test("parseCentralBanks() reads every currency with its own day, digit for digit", () => {
  const json = centralBanksJson("2026-11-19", { AED: "4.0190", KWD: "0.33710" }).replace(
    `"2026-11-19","base":"EUR","quote":"KWD"`,
    `"2026-11-16","base":"EUR","quote":"KWD"`,
  );
  const set = parseCentralBanks(json);
  assertEquals([set.source, set.publishedOn, set.perEuro.AED, set.perEuro.KWD, set.days?.KWD, set.days?.AED], [
    "central_banks",
    "2026-11-19",
    "4.0190",
    "0.33710",
    "2026-11-16",
    "2026-11-19",
  ]);
});

Deno.test("parseCentralBanks() skips invalid rows and rejects anything but a list of euro rates", () => {
  const good = centralBanksJson("2026-11-19", { AED: "4.019" });
  for (const slip of ["-4.019", "0x4", '"dear"', "1.0e-05", "null", "{}", "12345678901.5"]) {
    const json = slip === "0x4" ? good.replace('"AED"', '"aed"') : good.replace("4.019", slip);
    assertEquals("AED" in parseCentralBanks(json).perEuro, false, slip);
  }
  const never = good.replace('"2026-11-19","base":"EUR","quote":"AED"', '"2026-02-30","base":"EUR","quote":"AED"');
  assertEquals("AED" in parseCentralBanks(never).perEuro, false);
  const row = `{"date":"2026-11-19","base":"EUR","quote":"AED","rate":4}`;
  for (
    const text of [
      "",
      "null",
      "[]",
      "{}",
      "[null]",
      "[[]]",
      "<html></html>",
      `{"rates":{}}`,
      good.slice(0, -5),
      good.replace(`"base":"EUR","quote":"AED"`, `"base":"USD","quote":"AED"`),
      `[${row.replace("2026-11-19", "19 November")}]`,
      `[${Array(401).fill(row)}]`,
    ]
  ) {
    assertThrows(() => parseCentralBanks(text), MalformedRates, undefined, text.slice(0, 60));
  }
});

const allOf = (rates: Record<string, string> = {}, publishedOn = "2026-11-19") =>
  parseCentralBanks(centralBanksJson(publishedOn, rates));

Deno.test("refusalOfDay() requires rates of that day, close to the central bank's", () => {
  const day = "2026-11-19";
  const cases: [RateSet, string | null][] = [
    [allOf(), null],
    [setOf(), null],
    [setOf({}, "2026-11-12"), null],
    [setOf({}, "2026-11-11"), "too_old"],
    [setOf({}, "2026-11-20"), "in_the_future"],
    [allOf({}, "2026-11-20"), "in_the_future"],
    [allOf({ USD: "1.54" }), null],
    [allOf({ USD: "1.7" }), "disagrees"],
    [allOf({ JPY: "0.015" }), "disagrees"],
    [without(allOf(), "GBP"), "missing_currency"],
    [without(allOf(), ...Object.keys(allOf().perEuro).filter((code) => code.startsWith("Q")).slice(0, 60)), "too_few"],
    // A jump affects only its own currency, which withoutJumps() omits.
    [allOf({ TRY: "15" }), null],
  ];
  for (const [set, refusal] of cases) assertEquals(refusalOfDay(set, { stored, day }), refusal);
  assertEquals(refusalOfDay(allOf({ USD: "900" }), { stored: {}, day }), null);
  const { set, left_out } = withoutJumps(allOf({ TRY: "15", SEK: "1.6" }), stored);
  assertEquals([left_out, set.perEuro.TRY, set.perEuro.SEK], [["TRY"], undefined, "1.6"]);
});

Deno.test("latestSources() tries the sources in order, at an overridden base if configured", () => {
  assertEquals(latestSources(["ecb", "frankfurter", "central_banks"]).map(({ url }) => url), [
    "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml",
    "https://api.frankfurter.dev/v1/latest?base=EUR",
  ]);
  assertEquals(
    latestSources(["frankfurter=http://127.0.0.1:5/fx/", "ecb=https://mirror.example"]).map(({ url }) => url),
    [
      "http://127.0.0.1:5/fx/v1/latest?base=EUR",
      "https://mirror.example/stats/eurofxref/eurofxref-daily.xml",
    ],
  );
});

Deno.test("sourcesOfDay() requests one day", () => {
  assertEquals(
    sourcesOfDay(["ecb", "frankfurter", "central_banks=http://127.0.0.1:5/cb/"], "2024-02-29").map(({ url }) => url),
    ["https://api.frankfurter.dev/v1/2024-02-29?base=EUR", "http://127.0.0.1:5/cb/v2/rates?base=EUR&date=2024-02-29"],
  );
});
