/** Formats numbers, days and sentences in the reader's locale. */
import type { Chart } from "./data.ts";

export interface Words {
  money(amount: string): string;
  /** Short, for an axis: 1.2K. */
  tick(value: number): string;
  /** A step of a time axis; anything but a proper date is left as it is. */
  step(key: string, length: "short" | "long"): string;
}

export function createWords({ currency, unit }: Chart, locale: string | undefined): Words {
  const money = numberFormat(locale, { style: "currency", currency });
  const whole = numberFormat(locale, { style: "currency", currency, maximumFractionDigits: 0 });
  const compact = numberFormat(locale, { style: "currency", currency, notation: "compact", maximumFractionDigits: 1 });
  const days = {
    short: unit === "month"
      ? dateFormat(locale, { month: "short" })
      : dateFormat(locale, { day: "numeric", month: "short" }),
    long: unit === "month"
      ? dateFormat(locale, { month: "long", year: "numeric" })
      : dateFormat(locale, { weekday: "short", day: "numeric", month: "short", year: "numeric" }),
  };
  return {
    // Decimal strings are formatted exactly (ECMA-402 2023).
    money: (amount) => money.format(amount as Intl.StringNumericLiteral),
    tick: (value) => (value >= 1000 ? compact : value >= 10 || Number.isInteger(value) ? whole : money).format(value),
    step(key, length) {
      const at = new Date(`${key.length === 7 ? `${key}-01` : key}T00:00:00Z`);
      return isNaN(at.valueOf()) ? key : days[length].format(at);
    },
  };
}

/** The number first, then what it is and how it compares. */
export function headline(chart: Chart, words: Words): { number: string; rest: string; compared: string } {
  const { total, period, compared } = chart;
  const isBills = chart.chart === "upcoming_bills";
  const until = words.step(period.to, "long");
  if (total.count === 0) {
    return {
      number: isBills ? "Nothing due" : "Nothing spent",
      rest: isBills ? `until ${until}` : period.words,
      compared: "",
    };
  }
  const percent = compared && Math.round(Math.abs(compared.change_percent));
  return {
    number: words.money(total.amount),
    rest: isBills ? `due until ${until}` : period.words,
    compared: isBills
      ? total.overdue ? `${total.overdue} of ${total.count} dates overdue` : ""
      : !compared
      ? ""
      : percent === 0
      ? `about as much as ${compared.words} (${words.money(compared.amount)})`
      : `${percent}% ${compared.change_percent < 0 ? "less" : "more"} than ${compared.words} (${
        words.money(compared.amount)
      })`,
  };
}

/** What the paler columns mean; empty when there are none. */
export function partialNote({ series, unit }: Chart): string {
  const count = series[0]?.points.filter(({ partial }) => partial).length ?? 0;
  if (count === 0) return "";
  return count === 1 ? `The paler column is an incomplete ${unit}.` : `The paler columns are incomplete ${unit}s.`;
}

function numberFormat(locale: string | undefined, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  try {
    return new Intl.NumberFormat(locale, options);
  } catch {
    return new Intl.NumberFormat("en", options);
  }
}

function dateFormat(locale: string | undefined, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(locale, { ...options, timeZone: "UTC" });
  } catch {
    return new Intl.DateTimeFormat("en", { ...options, timeZone: "UTC" });
  }
}
