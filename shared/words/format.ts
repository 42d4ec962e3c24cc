/** Formats dates, amounts, percentages and lists for a locale. The catalog contains the sentences. */
import { byKey, once } from "./remember.ts";

const DATE_STYLES = {
  /** "Monday, October 5" */
  full: { weekday: "long", day: "numeric", month: "long" },
  /** "Mon, Oct 5" */
  short: { weekday: "short", day: "numeric", month: "short" },
  /** "October 5" */
  day: { day: "numeric", month: "long" },
  /** "Oct 5" */
  shortDay: { day: "numeric", month: "short" },
  /** "Monday" */
  weekday: { weekday: "long" },
  /** "October" */
  month: { month: "long" },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

export interface Format {
  /** @param day YYYY-MM-DD. @param style.today adds the year if the day is in another one. */
  date(day: string, style: { style: keyof typeof DATE_STYLES; today?: string }): string;
  /** "today", "tomorrow", "in 3 days", "yesterday", "3 days ago". */
  daysFromNow(days: number): string;
  /** "€1,450.00": a decimal string with all its digits and the currency's sign. */
  money(amount: string, currency: string): string;
  /** "8%" of 8. */
  percent(number: number): string;
  /** "Rent, Netflix and Water". */
  list(parts: readonly string[]): string;
}

/** @param locale a BCP 47 tag, see `localeOf`. A run sends thousands of mails in few locales. */
export const formatOf: (locale: string) => Format = byKey(createFormat);

function createFormat(locale: string): Format {
  const dates = byKey((key) => {
    const [style, year] = key.split(" ") as [keyof typeof DATE_STYLES, "numeric" | ""];
    return new Intl.DateTimeFormat(locale, { ...DATE_STYLES[style], year: year || undefined, timeZone: "UTC" });
  });
  const amounts = byKey((key) => {
    const [currency, decimals] = key.split(" ");
    return new Intl.NumberFormat(locale, {
      style: "currency",
      currency,
      minimumFractionDigits: Number(decimals),
      maximumFractionDigits: Number(decimals),
    });
  });
  const percents = once(() => new Intl.NumberFormat(locale, { style: "percent" }));
  const relative = once(() => new Intl.RelativeTimeFormat(locale, { numeric: "auto" }));
  const lists = once(() => new Intl.ListFormat(locale));

  return {
    date(day, { style, today = day }) {
      const year = day.slice(0, 4) === today.slice(0, 4) ? "" : "numeric";
      return dates(`${style} ${year}`).format(new Date(`${day}T00:00:00Z`));
    },
    daysFromNow: (days) => relative().format(days, "day"),
    money(amount, currency) {
      // As many decimals as written, which follows ISO 4217; Intl sometimes differs.
      const decimals = amount.split(".")[1]?.length ?? 0;
      return amounts(`${currency} ${decimals}`).format(amount as Intl.StringNumericLiteral);
    },
    percent: (number) => percents().format(number / 100),
    list: (parts) => lists().format(parts),
  };
}
