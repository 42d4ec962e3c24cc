/** Formats numbers and days in the reader's locale. */
import type { Used } from "../../../../shared/words/en/chart_page.ts";
import type { Budget, Chart } from "./data.ts";

export interface Format {
  money(amount: string): string;
  /** Short, for an axis: 1.2K. */
  tick(value: number): string;
  /** A step of a time axis; text that is not a date stays unchanged. */
  step(key: string, length: "short" | "long"): string;
  /** Formats 8 as "8%". */
  percent(whole: number): string;
  /** The used part of a budget, in the form that the words need. */
  used(budget: Budget): Used;
}

export function createFormat({ currency, unit }: Chart, locale: string | undefined): Format {
  const money = numberFormat(locale, { style: "currency", currency });
  const whole = numberFormat(locale, { style: "currency", currency, maximumFractionDigits: 0 });
  const compact = numberFormat(locale, { style: "currency", currency, notation: "compact", maximumFractionDigits: 1 });
  const percents = numberFormat(locale, { style: "percent" });
  const days = {
    short: unit === "month"
      ? dateFormat(locale, { month: "short" })
      : dateFormat(locale, { day: "numeric", month: "short" }),
    long: unit === "month"
      ? dateFormat(locale, { month: "long", year: "numeric" })
      : dateFormat(locale, { weekday: "short", day: "numeric", month: "short", year: "numeric" }),
  };
  const step = (key: string, length: "short" | "long") => {
    const at = new Date(`${key.length === 7 ? `${key}-01` : key}T00:00:00Z`);
    return isNaN(at.valueOf()) ? key : days[length].format(at);
  };
  return {
    // Decimal strings are formatted exactly (ECMA-402 2023).
    money: (amount) => money.format(amount as Intl.StringNumericLiteral),
    tick: (value) => (value >= 1000 ? compact : value >= 10 || Number.isInteger(value) ? whole : money).format(value),
    step,
    percent: (whole) => percents.format(whole / 100),
    used: ({ amount, used_percent: used, set_on: setOn }) => ({
      amount: money.format(amount as Intl.StringNumericLiteral),
      // Refunds larger than the spending use nothing.
      ...(used !== undefined && { percent: percents.format(Math.max(0, used) / 100) }),
      ...(setOn && { setOn: step(setOn, "long") }),
    }),
  };
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
