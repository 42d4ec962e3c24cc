/** The formats of pages and mails by locale. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { formatOf } from "../../../shared/words/format.ts";
import { localeOf } from "../../../shared/words/locale.ts";
import { pageFormat } from "../../../shared/words/page_format.ts";

const STYLES = ["full", "short", "day", "shortDay", "weekday"] as const;

Deno.test("formatOf() formats dates for a country, with the year unless it is the current one", () => {
  const dates = (locale: string, day: string) =>
    STYLES.map((style) => formatOf(locale).date(day, { style, today: "2026-10-02" }));
  assertEquals(dates("en-US", "2026-10-05"), ["Monday, October 5", "Mon, Oct 5", "October 5", "Oct 5", "Monday"]);
  assertEquals(dates("en-DE", "2026-10-05"), ["Monday, 5 October", "Mon, 5 Oct", "5 October", "5 Oct", "Monday"]);
  assertEquals(dates("en-US", "2027-01-05").slice(2, 4), ["January 5, 2027", "Jan 5, 2027"]);
  assertEquals(dates("en-GB", "2027-01-05").slice(2, 4), ["5 January 2027", "5 Jan 2027"]);
});

Deno.test("formatOf() keeps every digit of an amount, and distinguishes dollars", () => {
  const amounts = [["1450.00", "EUR"], ["980", "JPY"], ["1.234", "KWD"], ["12.50", "AFN"], [
    "9007199254740993.11",
    "EUR",
  ]];
  assertEquals(
    amounts.map(([amount, currency]) => formatOf("en-US").money(amount!, currency!)),
    ["€1,450.00", "¥980", "KWD\u00a01.234", "AFN\u00a012.50", "€9,007,199,254,740,993.11"],
  );
  assertEquals(["en-US", "en-GB"].map((locale) => formatOf(locale).money("9.99", "USD")), ["$9.99", "US$9.99"]);
});

Deno.test("formatOf() formats percentages and lists for a country", () => {
  assertEquals(["en-US", "en-DE"].map((locale) => formatOf(locale).percent(8)), ["8%", "8\u00a0%"]);
  assertEquals(["en-US", "en-DE"].map((locale) => formatOf(locale).list(["a", "b", "c"])), [
    "a, b, and c",
    "a, b and c",
  ]);
});

Deno.test("a count on a page has the separators of the amounts beside it", () => {
  const countries = ["US", "DE", "FR", "IN", "CH", "ZA"].map((country) => localeOf({ language: "en", country }));
  for (const locale of countries) {
    const { number, money } = pageFormat(locale);
    assertStringIncludes(money("1234567.00", "EUR"), number(1234567), locale);
    assertEquals(number(0), "0");
  }
});

Deno.test("localeOf() returns the language's variant for the country, and never American by accident", () => {
  assertEquals(
    ["US", "DE", "GB", "JP", undefined].map((country) => localeOf({ language: "en", country })),
    ["en-US", "en-DE", "en-GB", "en-001", "en-001"],
  );
});
