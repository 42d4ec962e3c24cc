/** Formats dates, amounts and names on pages for a locale; mails use shorter dates (format.ts). */
import { formatOf } from "./format.ts";
import { byKey, once } from "./remember.ts";

export interface PageFormat {
  /** "November 22, 2026" from YYYY-MM-DD, or from an instant in UTC. */
  date(at: string): string;
  /** "November 22, 2026 at 10:05 AM" from an instant, in a time zone. */
  time(at: string, timeZone: string): string;
  /** "November 2026" from YYYY-MM-DD. */
  month(day: string): string;
  /** "€1,450.00": a decimal string with all its digits and the currency's sign. */
  money(amount: string, currency: string): string;
  /** "8%" of 8. */
  percent(number: number): string;
  /** "12,000" for a count, grouped like amounts: CLDR has "€12,000" but "12.000" for English in Germany. */
  number(count: number): string;
  /** "Germany" from ISO 3166-1 alpha-2; the code itself if it has no name. */
  country(code: string): string;
  /** "Euro" from ISO 4217. */
  currency(code: string): string;
  /** For sorting by name. */
  compare(one: string, other: string): number;
}

/** @param locale a BCP 47 tag, see `localeOf`. */
export const pageFormat: (locale: string) => PageFormat = byKey(createPageFormat);

function createPageFormat(locale: string): PageFormat {
  const write = (at: string, options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { timeZone: "UTC", ...options }).format(new Date(at));
  const regions = once(() => new Intl.DisplayNames(locale, { type: "region" }));
  const currencies = once(() => new Intl.DisplayNames(locale, { type: "currency" }));
  const whole = once(() =>
    new Intl.NumberFormat(locale, { style: "currency", currency: "EUR", maximumFractionDigits: 0 })
  );
  const collator = once(() => new Intl.Collator(locale));
  const { money, percent } = formatOf(locale);
  return {
    date: (at) => write(at, { dateStyle: "long" }),
    time: (at, timeZone) => write(at, { dateStyle: "long", timeStyle: "short", timeZone }),
    month: (day) => write(day, { month: "long", year: "numeric" }),
    money,
    percent,
    number: (value) =>
      whole().formatToParts(value).filter(({ type }) => type === "integer" || type === "group")
        .map(({ value }) => value).join(""),
    country: (code) => regions().of(code) ?? code,
    currency: (code) => currencies().of(code) ?? code,
    compare: (one, other) => collator().compare(one, other),
  };
}
