/** Statement periods: calendar months in UTC, identified by their first day, `YYYY-MM-01`. */
import type { Month } from "./provider.ts";

export type Period = string;

/** @param months offset, may be negative. */
function firstDay(period: Period, months: number): Period {
  const [year, month] = period.split("-").map(Number) as [number, number];
  return new Date(Date.UTC(year, month - 1 + months, 1)).toISOString().slice(0, 10);
}

/** The last complete month. */
export const lastPeriod = (now: Date): Period => firstDay(now.toISOString().slice(0, 10), -1);

export const monthOf = (period: Period): Month => ({ start: period, end: firstDay(period, 1) });

/** @param text `YYYY-MM` or `YYYY-MM-01`. @returns null for anything else, and for a month that has not ended. */
export function readPeriod(text: string, now: Date): Period | null {
  const month = /^(20\d\d-(?:0[1-9]|1[0-2]))(?:-01)?$/.exec(text)?.[1];
  return month && `${month}-01` <= lastPeriod(now) ? `${month}-01` : null;
}
