/** Words of the chart's page. Amounts, days and percentages are already in the reader's locale. */

/** Column headers, in the page's table and in the table for hosts without charts. */
export const columns = {
  amount: "Amount",
  category: "Category",
  budget: "Budget",
  due: "Due",
  bill: "Bill",
  step: { day: "Day", week: "Week from", month: "Month" },
};

/** An incomplete time step. */
export const part = (step: string): string => `${step} (part)`;

/** A bill that is due several times in a row. */
export const times = (name: string, dates: number | undefined): string => dates ? `${name} (${dates} ×)` : name;

export interface Used {
  /** Absent when earlier overspending used up the whole budget. */
  percent?: string;
  amount: string;
  /** Only if the budget was set after the period. */
  setOn?: string;
}

/** Words for the used part of a budget. */
export const used = ({ percent, amount, setOn }: Used): string =>
  (percent === undefined ? "used up earlier" : `${percent} of ${amount}`) + (setOn ? `, set on ${setOn}` : "");

interface Compared {
  /** "last month" */
  period: string;
  amount: string;
  /** "8%"; absent when it rounds to nothing. */
  share?: string;
  isLess: boolean;
}

const paler = (unit: string) => (count: number): string =>
  count === 1 ? `The paler column is an incomplete ${unit}.` : `The paler columns are incomplete ${unit}s.`;

export const chartPage = {
  title: "Spending",
  noChart: "There is no chart in this result.",
  cancelled: "The chart was cancelled.",
  nothingSpent: "Nothing spent",
  nothingDue: "Nothing due",
  /** After the amounts, if the chart has no others. @param when "this month", `dueBy` */
  withoutRate: (when: string, currency: string): string => `${when}, without a known exchange rate to ${currency}`,
  /** After names of bills. @param when `dueBy` */
  withoutAmount: (when: string): string => `${when}, amount not known yet`,
  /** After "Nothing due". */
  by: (day: string): string => `by ${day}`,
  /** After an amount. */
  dueBy: (day: string): string => `due by ${day}`,
  overdueOf: (overdue: number, all: number): string => `${overdue} of ${all} dates overdue`,
  compared: ({ period, amount, share, isLess }: Compared): string =>
    share
      ? `${share} ${isLess ? "less" : "more"} than ${period} (${amount})`
      : `about as much as ${period} (${amount})`,
  used,
  overBudget: "over budget",
  /** For a due amount. */
  about: (amount: string): string => `about ${amount}`,
  estimated: (amount: string): string => `Estimated: ${amount} of it.`,
  /** Before the amount that may be spent in total. */
  usedOfAll: (words: Used): string => `Budget: ${used(words)}`,
  unconverted: (amounts: string): string => `Not included (no exchange rate): ${amounts}.`,
  /** Before names of bills. */
  unknownAmounts: "Not included (amount not known yet):",
  paler: { day: paler("day"), week: paler("week"), month: paler("month") },
  ownScale: "Each category has its own scale.",
  picture: (headline: string): string => `Chart: ${headline}. The numbers are in the table below.`,
  overdue: "overdue",
  timesUntil: (dates: number, day: string): string => `${dates} × until ${day}`,
  times,
  /** The first day, and the last one if there are several. */
  dueDates: ({ from, to, overdue }: { from: string; to?: string; overdue?: boolean }): string =>
    `${from}${to ? ` – ${to}` : ""}${overdue ? " (overdue)" : ""}`,
  part,
  showTable: "Show as table",
  table: "Table",
  columns,
};

export type ChartPageWords = typeof chartPage;
