/** Statement periods: calendar months in UTC, identified by their first day, `YYYY-MM-01`. */
import { monthsAfter } from "../iso_day.ts";
import type { Month } from "./provider.ts";

export type Period = string;

/** The last complete month. */
export const lastPeriod = (now: Date): Period => monthsAfter(now.toISOString().slice(0, 10), -1);

export const monthOf = (period: Period): Month => ({ start: period, end: monthsAfter(period, 1) });

/** @param text `YYYY-MM` or `YYYY-MM-01`. @returns null for any other text, and for a month that has not ended. */
export function readPeriod(text: string, now: Date): Period | null {
  const month = /^(20\d\d-(?:0[1-9]|1[0-2]))(?:-01)?$/.exec(text)?.[1];
  return month && `${month}-01` <= lastPeriod(now) ? `${month}-01` : null;
}
