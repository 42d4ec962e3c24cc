/** Words of `show_spending_chart`. */
import type { Money, Refusal } from "../message.ts";
import { columns, part, times, used } from "./chart_page.ts";
import { and, money, names, percent } from "./phrases.ts";

interface Period {
  from: string;
  to: string;
  /** `this_month`, `last_30_days` …; absent for dates. */
  name?: string;
}

export const refusals = {
  "date_out_of_range.chart_too_long": ({ date: day, years }: { date: string; years: number }): Refusal => ({
    message: `${day} is more than ${years} years ahead.`,
    hint: "Ask for a shorter time.",
  }),
};

export const warnings = {
  "rate_missing.of_chart": ({ into }: { into: string }): string =>
    `No exchange rate to ${into} is known for some payments; they are listed in unconverted and are not part of the chart.`,
  "rate_missing.of_upcoming": ({ into }: { into: string }): string =>
    `No exchange rate to ${into} is known today for some bills; they are listed in unconverted and are not part of the ` +
    "chart.",
  "truncated": ({ shown, lines }: { shown: number; lines: number }): string =>
    `The chart shows the first ${shown} of ${lines} lines; the total covers all of them. list_bills shows the rest.`,
};

/** The name of a period after an amount: "this month". */
export function periodWords({ from, to, name }: Period): string {
  switch (name) {
    case undefined:
      return `from ${from} to ${to}`;
    default:
      return /\d/.test(name) ? `in the ${name.replaceAll("_", " ")}` : name.replaceAll("_", " ");
  }
}

/** The name of the compared period: "at this point last month". */
export function earlierWords({ from, to }: Period, name: string | undefined): string {
  const counted = /^last_(\d+_\w+)$/.exec(name ?? "")?.[1];
  if (counted) return `in the ${counted.replace("_", " ")} before`;
  switch (name) {
    case undefined:
      return `from ${from} to ${to}`;
    case "last_month":
      return "the month before";
    default:
      return name.startsWith("next_")
        ? `in the ${name.replace("next_", "")} before`
        : `at this point ${name.replace("this_", "last ").replaceAll("_", " ")}`;
  }
}

interface Spent {
  total: Money & { count: number };
  period: string;
  compared?: { words: string; whole_percent: number };
  books_begin?: string;
  budget?: Limit;
  unconverted: Money[];
}

interface Upcoming {
  /** `estimated` is the estimated part of the amount. */
  total: Money & { count: number; overdue: number; estimated?: string };
  to: string;
  unconverted: Money[];
  /** "Water and Power"; absent when every amount is known. */
  unknown_amounts?: string;
}

/** A budget's limit and its used part. */
interface Limit extends Money {
  used_percent?: number;
  set_on?: string;
}

const usedOf = ({ used_percent, set_on, ...amount }: Limit): string =>
  used({
    amount: money(amount),
    // Refunds larger than the spending use nothing.
    ...(used_percent !== undefined && { percent: percent(Math.max(0, used_percent)) }),
    ...(set_on && { setOn: set_on }),
  });

export const chart = {
  spending: "Spending",
  share: "Share",
  ...columns,
  names,
  amount: (currency: string): string => `Amount (${currency})`,
  total: (currency: string): string => `Total (${currency})`,
  percent,
  part,
  times,
  about: (amount: string): string => `about ${amount}`,
  dueDates: ({ from, to, overdue }: { from: string; to?: string; overdue?: boolean }): string =>
    `${from}${to ? ` to ${to}` : ""}${overdue ? " (overdue)" : ""}`,
  used: usedOf,
  dueUntil: (day: string): string => `due by ${day}`,
  /** One sentence above the table. */
  spent({ total, period, compared, books_begin, budget, unconverted }: Spent): string {
    if (total.count === 0) {
      return unconverted.length > 0 ? withoutRate(unconverted, period, total) : `Nothing spent ${period}.`;
    }
    const begin = books_begin ? `; the books begin on ${books_begin}` : "";
    return `${money(total)} ${period}${compared ? change(compared) : begin}.${
      budget ? ` Budget: ${usedOf(budget)}.` : ""
    }`;
  },
  upcoming({ total, to, unconverted, unknown_amounts }: Upcoming): string {
    if (total.count === 0) {
      if (unconverted.length > 0) return withoutRate(unconverted, `due by ${to}`, total);
      return unknown_amounts ? `${unknown_amounts} due by ${to}, amount not known yet.` : `Nothing due by ${to}.`;
    }
    const overdue = total.overdue > 0 ? `, ${total.overdue} of ${total.count} dates overdue` : "";
    return `${money(total)} due by ${to}${overdue}${
      total.estimated ? `; ${money({ ...total, amount: total.estimated })} of it is estimated` : ""
    }.`;
  },
};

/** Only for amounts without a rate: "48000 JPY this month, without a known exchange rate to EUR." */
const withoutRate = (amounts: readonly Money[], when: string, { currency }: Money): string =>
  `${and(amounts.map(money))} ${when}, without a known exchange rate to ${currency}.`;

const change = ({ words, whole_percent }: { words: string; whole_percent: number }): string =>
  whole_percent === 0
    ? `, about as much as ${words}`
    : `, ${percent(Math.abs(whole_percent))} ${whole_percent < 0 ? "less" : "more"} than ${words}`;
