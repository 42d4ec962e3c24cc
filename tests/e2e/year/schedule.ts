/** Due dates of a year, found by checking every day: slow, simple, and independent of the product's arithmetic. */
import { dayOfMonth, daysBetween, isLastOfMonth, plus, range, weekdayOf } from "./days.ts";

export type IsScheduled = (day: string) => boolean;

/** On a day of each month; 29 to 31 fall on the last day of shorter ones. */
export const monthly = (on: number, months = 1, first = "2026-01"): IsScheduled => (day) => {
  const month = Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7));
  const anchor = Number(first.slice(0, 4)) * 12 + Number(first.slice(5, 7));
  return (month - anchor) % months === 0 && (dayOfMonth(day) === on || isLastOfMonth(day) && dayOfMonth(day) < on);
};

export const lastWeekday = (weekday: number): IsScheduled => (day) =>
  weekdayOf(day) === weekday && plus(day, 7).slice(0, 7) !== day.slice(0, 7);

export const nthWeekday = (nth: number, weekday: number): IsScheduled => (day) =>
  weekdayOf(day) === weekday && Math.ceil(dayOfMonth(day) / 7) === nth;

export const everyDays = (days: number, first: string): IsScheduled => (day) => daysBetween(first, day) % days === 0;

/** On a day of each year; 29 February falls on the 28th in most. */
export const yearly = (monthAndDay: string): IsScheduled => (day) =>
  day.slice(5) === monthAndDay ||
  monthAndDay === "02-29" && day.endsWith("-02-28") && isLastOfMonth(day);

export const once = (on: string): IsScheduled => (day) => day === on;

/** Weekends move a date to the Friday before or the Monday after. */
const shifted = (day: string, rule: "none" | "before" | "after"): string => {
  const weekday = weekdayOf(day);
  if (rule === "none" || weekday % 6 !== 0) return day;
  return rule === "before" ? plus(day, weekday === 6 ? -1 : -2) : plus(day, weekday === 6 ? 2 : 1);
};

/** The due dates from a day on, well into the next year. */
export const dueDates = (
  isScheduled: IsScheduled,
  { from, until = "2028-12-31", weekend = "none" }: {
    from: string;
    until?: string;
    weekend?: "none" | "before" | "after";
  },
): string[] =>
  range(plus(from, -3), until).filter(isScheduled).map((day) => shifted(day, weekend)).filter((day) => day >= from);
