/** The periods offered for an export: months, quarters and years around a day, or any two days. */
import { isDay } from "../iso_day.ts";

export const PERIODS = ["this_month", "last_month", "this_quarter", "last_quarter", "this_year", "last_year"] as const;
export type NamedPeriod = typeof PERIODS[number];

export interface Period {
  /** First and last day, as YYYY-MM-DD. */
  from: string;
  to: string;
}

const MONTHS = { month: 1, quarter: 3, year: 12 } as const;

/** @param today the calendar date in the books' time zone. */
export function namedPeriod(name: NamedPeriod, today: string): Period {
  const [which, unit] = name.split("_") as ["this" | "last", keyof typeof MONTHS];
  const length = MONTHS[unit];
  const [year, month] = today.split("-").map(Number) as [number, number];
  const first = Math.floor((month - 1) / length) * length - (which === "last" ? length : 0);
  return { from: dayOf(year, first, 1), to: dayOf(year, first + length, 0) };
}

const dayOf = (year: number, month: number, day: number) =>
  new Date(Date.UTC(year, month, day)).toISOString().slice(0, 10);

/** Two days that exist, in order, or undefined. */
export function customPeriod(from: string, to: string): Period | undefined {
  return isDay(from) && isDay(to) && from <= to ? { from, to } : undefined;
}
