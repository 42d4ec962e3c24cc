/** The result of `show_spending_chart` as the page reads it; amounts stay decimal strings until they are drawn. */
import type { ChartPageWords } from "../../../../shared/words/en/chart_page.ts";
import type { ToolResult } from "./host.ts";

export interface Point {
  x: string;
  y: string;
  overdue?: true;
  /** The amount is not known yet. */
  estimate?: true;
  /** For a bill that is due daily: the number of due dates, and the last one. */
  dates?: number;
  to?: string;
  /** The step is incomplete: the period covers only a part of it, or it is still running. */
  partial?: true;
  /** The category's budget of this month or year. */
  budget?: Budget;
}

export interface Budget {
  amount: string;
  /** Absent when the budget was zero. */
  used_percent?: number;
  /** Only if it was set after the period. */
  set_on?: string;
}

export interface Chart {
  chart: "by_category" | "over_time" | "category_over_time" | "upcoming_bills";
  period: { from: string; to: string; words: string };
  currency: string;
  unit?: "day" | "week" | "month";
  series: { label: string; points: Point[] }[];
  total: { amount: string; count: number; overdue?: number; estimated?: string };
  compared?: { words: string; amount: string; change_percent: number };
  /** The budget for all spending. */
  budget?: Budget;
  unconverted: { currency: string; amount: string; count: number }[];
  /** Due bills without an amount: "Water and Power". */
  unknown_amounts?: string;
}

/** The chart in a result, or a message instead. */
export function readResult(result: ToolResult, words: ChartPageWords): Chart | string {
  const envelope = result.structuredContent ?? parse(result.content?.find((part) => part.type === "text")?.text);
  const { ok, data, error } = envelope as { ok?: boolean; data?: Chart; error?: { message?: string } };
  if (ok && Array.isArray(data?.series)) return { ...data, unconverted: data.unconverted ?? [] };
  return error?.message ?? words.noChart;
}

function parse(text: string | undefined): Record<string, unknown> {
  try {
    return JSON.parse(text ?? "{}") ?? {};
  } catch {
    return {};
  }
}
