/** The chart's headline: the number, its meaning and a comparison. */
import type { ChartPageWords } from "../../../../shared/words/en/chart_page.ts";
import type { Drawing } from "./columns.ts";
import type { Chart } from "./data.ts";

interface Headline {
  number: string;
  rest: string;
  /** Empty if there is no comparison. */
  compared: string;
}

export function headline(chart: Chart, { words, format }: Omit<Drawing, "width">): Headline {
  const { total, period, currency, unconverted, unknown_amounts } = chart;
  const isUpcoming = chart.chart === "upcoming_bills";
  const day = format.step(period.to, "long");
  const when = isUpcoming ? words.dueBy(day) : period.words;
  if (total.count === 0) {
    if (unconverted.length > 0) {
      return { number: amountsIn(unconverted), rest: words.withoutRate(when, currency), compared: "" };
    }
    if (unknown_amounts) return { number: unknown_amounts, rest: words.withoutAmount(when), compared: "" };
    return isUpcoming
      ? { number: words.nothingDue, rest: words.by(day), compared: "" }
      : { number: words.nothingSpent, rest: when, compared: "" };
  }
  return {
    number: format.money(total.amount),
    rest: when,
    compared: isUpcoming ? late(total, words) : compare(chart, { words, format }),
  };
}

const late = ({ overdue, count }: Chart["total"], words: ChartPageWords): string =>
  overdue ? words.overdueOf(overdue, count) : "";

/** "48000 JPY, 5.00 USD" */
export const amountsIn = (unconverted: Chart["unconverted"]): string =>
  unconverted.map(({ currency, amount }) => `${amount} ${currency}`).join(", ");

function compare({ compared }: Chart, { words, format }: Omit<Drawing, "width">): string {
  if (!compared) return "";
  const whole = Math.round(Math.abs(compared.change_percent));
  return words.compared({
    period: compared.words,
    amount: format.money(compared.amount),
    ...(whole > 0 && { share: format.percent(whole) }),
    isLess: compared.change_percent < 0,
  });
}

/** Notes on columns: incomplete steps, and separate scales for several categories. */
export function columnNotes({ chart, series, unit = "day" }: Chart, words: ChartPageWords): string[] {
  const count = series[0]?.points.filter(({ partial }) => partial).length ?? 0;
  return [
    ...(chart === "category_over_time" && series.length > 1 ? [words.ownScale] : []),
    ...(count > 0 ? [words.paler[unit](count)] : []),
  ];
}
