/** What the chart says first: the number, then what it is and how it compares. */
import type { ChartPageWords } from "../../../../shared/words/en/chart_page.ts";
import type { Drawing } from "./columns.ts";
import type { Chart } from "./data.ts";

interface Headline {
  number: string;
  rest: string;
  /** Empty when there is nothing to compare with. */
  compared: string;
}

export function headline(chart: Chart, { words, format }: Omit<Drawing, "width">): Headline {
  const { total, period } = chart;
  if (chart.chart !== "upcoming_bills") {
    return total.count === 0
      ? { number: words.nothingSpent, rest: period.words, compared: "" }
      : { number: format.money(total.amount), rest: period.words, compared: compare(chart, { words, format }) };
  }
  const day = format.step(period.to, "long");
  if (total.count === 0) return { number: words.nothingDue, rest: words.by(day), compared: "" };
  return {
    number: format.money(total.amount),
    rest: words.dueBy(day),
    compared: total.overdue ? words.overdueOf(total.overdue, total.count) : "",
  };
}

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

/** What has to be said of columns: which are not whole, and that charts of several categories can't be compared. */
export function columnNotes({ chart, series, unit = "day" }: Chart, words: ChartPageWords): string[] {
  const count = series[0]?.points.filter(({ partial }) => partial).length ?? 0;
  return [
    ...(chart === "category_over_time" && series.length > 1 ? [words.ownScale] : []),
    ...(count > 0 ? [words.paler[unit](count)] : []),
  ];
}
