/** Determines how a file writes dates and amounts from all its cells; what no cell proves is assumed and reported. */
import type { Said } from "../words/message.ts";
import type { Assumption } from "../words/words.ts";
import type { DateOrder, DateText } from "./date_text.ts";
import { toIsoDate } from "./date_text.ts";
import { type DecimalSign, decimalSignOf, type MoneyText } from "./money_text.ts";

export interface Convention<Value> {
  value: Value;
  /** The assumption, when nothing in the file proves it. */
  assumed?: Said & { code: Assumption };
}

/** The order most dates show; failing that, the one in which the file is sorted, else day first. */
export function findDateOrder(dates: DateText[]): Convention<DateOrder> {
  const open = dates.filter(({ isCertain }) => !isCertain);
  if (open.length === 0) return { value: dates[0]?.order ?? "YMD" };
  const count = (order: DateOrder) => open.filter((date) => date.order === order).length;
  if (count("DMY") + count("MDY") > 0) return { value: count("MDY") > count("DMY") ? "MDY" : "DMY" };
  const sorted = (["DMY", "MDY"] as const).filter((order) =>
    isSorted(open.map((date) => toIsoDate(date, order) ?? ""))
  );
  if (sorted.length === 1 && open.length > 2) {
    const [value] = sorted as [DateOrder];
    return { value, assumed: { code: "date_order", params: { order: value, is_sorted: true } } };
  }
  return { value: "DMY", assumed: { code: "date_order", params: { order: "DMY" } } };
}

const isSorted = (days: string[]) =>
  days.every((day, i) => i === 0 || days[i - 1]! <= day) || days.every((day, i) => i === 0 || days[i - 1]! >= day);

/** The decimal sign most amounts show; failing that, three digits after a sign count as thousands. */
export function findDecimalSign(amounts: MoneyText[]): Convention<DecimalSign> {
  const shown = amounts.map(({ digits }) => decimalSignOf(digits));
  const points = shown.filter((sign) => sign === ".").length;
  const commas = shown.filter((sign) => sign === ",").length;
  if (points + commas > 0) return { value: commas > points ? "," : "." };
  const doubtful = amounts.find(({ digits }) => /[.,]/.test(digits));
  if (!doubtful) return { value: "." };
  const value = doubtful.digits.includes(",") ? "." : ",";
  return { value, assumed: { code: "thousands", params: { digits: doubtful.digits } } };
}

/** Whether money spent is negative: true in account statements; in expense lists a minus is a refund. */
export function findSign(amounts: MoneyText[]): Convention<boolean> {
  const negative = amounts.filter(({ isNegative }) => isNegative).length;
  if (negative === 0 || negative === amounts.length) return { value: negative > 0 };
  const value = negative * 2 >= amounts.length;
  return { value, assumed: { code: value ? "negative_is_expense" : "negative_is_refund" } };
}
