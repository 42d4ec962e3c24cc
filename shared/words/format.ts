/** Formats dates, amounts, percentages and lists for a locale. Sentences are in the catalog. */

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

const formats = new Map<string, Format>();

/** @param locale a BCP 47 tag, see `localeOf`. */
export function formatOf(locale: string): Format {
  let format = formats.get(locale);
  // Formatters are slow to create, and a run sends thousands of mails in a few locales.
  if (!format) formats.set(locale, format = createFormat(locale));
  return format;
}

function createFormat(locale: string): Format {
  const dates = new Map<string, Intl.DateTimeFormat>();
  const currencies = new Map<string, Intl.NumberFormat>();
  const percents = new Intl.NumberFormat(locale, { style: "percent" });
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  const lists = new Intl.ListFormat(locale);

  return {
    date(day, { style, today = day }) {
      const year = day.slice(0, 4) === today.slice(0, 4) ? undefined : "numeric";
      const formatter = remembered(
        dates,
        `${style} ${year}`,
        () => new Intl.DateTimeFormat(locale, { ...DATE_STYLES[style], year, timeZone: "UTC" }),
      );
      return formatter.format(new Date(`${day}T00:00:00Z`));
    },
    daysFromNow: (days) => relative.format(days, "day"),
    money(amount, currency) {
      // As many decimals as written, which follows ISO 4217; Intl sometimes differs.
      const decimals = amount.split(".")[1]?.length ?? 0;
      const formatter = remembered(currencies, `${currency} ${decimals}`, () =>
        new Intl.NumberFormat(locale, {
          style: "currency",
          currency,
          minimumFractionDigits: decimals,
          maximumFractionDigits: decimals,
        }));
      return formatter.format(amount as Intl.StringNumericLiteral);
    },
    percent: (number) => percents.format(number / 100),
    list: (parts) => lists.format(parts),
  };
}

function remembered<Value>(all: Map<string, Value>, key: string, make: () => Value): Value {
  let value = all.get(key);
  if (value === undefined) all.set(key, value = make());
  return value;
}
