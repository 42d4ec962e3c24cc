import { assert, assertEquals } from "@std/assert";
import {
  COUNTRIES,
  countriesByName,
  countryOfLanguages,
  currencyOfCountry,
  isCountry,
} from "../../../functions/auth-callback/profile/country.ts";
import { pageFormat } from "../../../shared/words/page_format.ts";
import {
  countryOfTimezone,
  isTimezone,
  timezoneOfCountry,
  timezones,
} from "../../../functions/auth-callback/profile/timezone.ts";

Deno.test("COUNTRIES is ISO 3166-1, each with a currency and a name in the reader's language", () => {
  assertEquals(COUNTRIES.length, 249);
  assertEquals(countriesByName(pageFormat("de-DE")).map(({ name }) => name).slice(-2), [
    "Zentralafrikanische Republik",
    "Zypern",
  ]);
  for (const { code, name, currency } of countriesByName(pageFormat("en-GB"))) {
    assert(/^[A-Z]{2}$/.test(code) && name !== code && /^[A-Z]{3}$/.test(currency), code);
  }
  assert(isCountry("DE") && !isCountry("de") && !isCountry("XK") && !isCountry("") && !isCountry("EU"));
});

Deno.test("countryOfLanguages() returns the first region that is a country", () => {
  assertEquals(countryOfLanguages("de,zh-Hant-TW;q=0.8,en-US;q=0.5"), "TW");
  assertEquals(countryOfLanguages("en-gb"), "GB");
  for (const header of [undefined, "", "*", "de", "es-419", "en-XX", "-US", "<script>-US"]) {
    assertEquals(countryOfLanguages(header), undefined, header);
  }
});

Deno.test("a country suggests the currency and the time zone that most people there use", () => {
  const suggested = ["US", "IN", "ES", "JP", "BV"].map((code) => [currencyOfCountry(code), timezoneOfCountry(code)]);
  assertEquals(suggested, [
    ["USD", "America/New_York"],
    ["INR", "Asia/Kolkata"],
    ["EUR", "Europe/Madrid"],
    ["JPY", "Asia/Tokyo"],
    ["NOK", "UTC"],
  ]);
  assertEquals([currencyOfCountry(undefined), timezoneOfCountry(undefined)], [undefined, "UTC"]);
  for (const { code } of COUNTRIES) assert(isTimezone(timezoneOfCountry(code)), code);
});

Deno.test("every selectable time zone except UTC belongs to one country", () => {
  assertEquals(timezones("UTC").filter((zone) => !isCountry(countryOfTimezone(zone) ?? "")), ["UTC"]);
  const zones = ["Europe/Berlin", "Asia/Kolkata", "America/Denver", "Mars/Olympus"];
  assertEquals(zones.map(countryOfTimezone), ["DE", "IN", "US", undefined]);
});

Deno.test("timezones() lists today's names, each once, and always the current one", () => {
  const zones = timezones("Asia/Calcutta");
  assert(zones.includes("Asia/Kolkata") && zones.includes("Asia/Calcutta") && zones.includes("UTC"));
  assertEquals(new Set(timezones("UTC")).size, timezones("UTC").length);
  for (const zone of zones) assert(isTimezone(zone), zone);
});

Deno.test("isTimezone() accepts only IANA names", () => {
  for (const name of ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5"]) {
    assert(isTimezone(name), name);
  }
  for (const name of ["", "+05:30", "Mars/Olympus", "Europe/Berlin ", "../etc", "Europe/Berlin\n", "EST", "IST"]) {
    assert(!isTimezone(name), name);
  }
});
