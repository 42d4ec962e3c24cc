/** What `show_spending_chart` answers, as the page reads it; amounts are decimal strings and stay so until they are drawn. */
import type { ToolResult } from "./host.ts";

export interface Point {
  x: string;
  y: string;
  overdue?: true;
  /** Of a bill that falls due day by day: how many due dates this is, and the last of them. */
  dates?: number;
  to?: string;
  /** The step is not whole: the period has only a part of it, or it still runs. */
  partial?: true;
}

export interface Chart {
  chart: "by_category" | "over_time" | "category_over_time" | "upcoming_bills";
  period: { from: string; to: string; words: string };
  currency: string;
  unit?: "day" | "week" | "month";
  series: { label: string; points: Point[] }[];
  total: { amount: string; count: number; overdue?: number };
  compared?: { words: string; amount: string; change_percent: number };
  unconverted: { currency: string; amount: string; count: number }[];
}

/** The chart in an answer, or what to say instead of one. */
export function readResult(result: ToolResult): Chart | string {
  const envelope = result.structuredContent ?? parse(result.content?.find((part) => part.type === "text")?.text);
  const { ok, data, error } = envelope as { ok?: boolean; data?: Chart; error?: { message?: string } };
  if (ok && Array.isArray(data?.series)) return { ...data, unconverted: data.unconverted ?? [] };
  return error?.message ?? "There is no chart in this answer.";
}

function parse(text: string | undefined): Record<string, unknown> {
  try {
    return JSON.parse(text ?? "{}") ?? {};
  } catch {
    return {};
  }
}
