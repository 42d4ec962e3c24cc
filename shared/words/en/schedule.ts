/**
 * A bill's schedule in English: "every month on the 5th", "every 2 weeks on Friday", "twice a month on the 1st and
 * 15th".
 */
import { and, date } from "./phrases.ts";

export interface Schedule {
  frequency: "once" | "daily" | "weekly" | "monthly" | "yearly";
  every: number;
  /** YYYY-MM-DD, a date of the schedule. */
  anchor_on: string;
  /** In order; 31 is the last day of the month. */
  month_days?: number[];
  weekend_rule?: "before" | "after";
  ends_on?: string;
  ends_after?: number;
}

const UNITS = { daily: "day", weekly: "week", monthly: "month", yearly: "year" };
const TIMES = ["", "once", "twice", "three times", "four times"];

export function schedule(
  { frequency, every, anchor_on, month_days = [], weekend_rule, ends_on, ends_after }: Schedule,
) {
  if (frequency === "once") return `once on ${date(anchor_on)}`;
  const unit = UNITS[frequency];
  const rhythm = month_days.length > 1 && every === 1
    ? `${TIMES[month_days.length]} a month`
    : every === 1
    ? `every ${unit}`
    : `every ${every} ${unit}s`;
  const day = {
    daily: "",
    weekly: ` on ${date(anchor_on, { weekday: "long" })}`,
    monthly: ` on the ${and(month_days.map(dayOfMonth))}`,
    yearly: ` on ${date(anchor_on, { month: "long", day: "numeric" })}`,
  }[frequency];
  return [
    rhythm + day,
    weekend_rule && `on a weekend the ${weekend_rule === "before" ? "Friday before" : "Monday after"}`,
    ends_on && `until ${date(ends_on)}`,
    ends_after && `${ends_after} ${ends_after === 1 ? "time" : "times"}`,
  ].filter(Boolean).join(", ");
}

function dayOfMonth(day: number): string {
  if (day === 31) return "last day";
  return ordinal(day) + (day > 28 ? " (or the last day)" : "");
}

const ORDINALS = new Intl.PluralRules("en", { type: "ordinal" });
const SUFFIXES: Record<string, string> = { one: "st", two: "nd", few: "rd", other: "th" };
const ordinal = (number: number) => number + SUFFIXES[ORDINALS.select(number)]!;
