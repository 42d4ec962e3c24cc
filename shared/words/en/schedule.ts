/**
 * A bill's schedule in English: "every month on the 5th", "every 2 weeks on Friday", "twice a month on the 1st and
 * 15th".
 */
import type { Schedule } from "../facts.ts";
import { and } from "./phrases.ts";

export type { Schedule } from "../facts.ts";

/** Days of the month, or weekdays such as the second Tuesday. */
export type MonthDays = Pick<Schedule, "month_days" | "month_weekdays">;

const UNITS = { daily: "day", weekly: "week", monthly: "month", yearly: "year" };
const TIMES = ["", "once", "twice", "three times", "four times"];

export function schedule(
  { frequency, every, anchor_on, weekend_rule, ends_on, ends_after, ...rest }: Schedule,
) {
  if (frequency === "once") return `once on ${anchor_on}`;
  const days = namesOf(rest);
  const times = days.length > 1 && every === 1 ? `${TIMES[days.length]} a month` : rhythm(frequency, every);
  const day = {
    daily: "",
    weekly: ` on ${part(anchor_on, { weekday: "long" })}`,
    monthly: ` on the ${and(days)}`,
    yearly: ` on ${part(anchor_on, { month: "long", day: "numeric" })}`,
  }[frequency];
  return [
    times + day,
    weekend_rule && `or the ${weekend_rule === "before" ? "Friday before" : "Monday after"} if that is a weekend`,
    ends_on && `until ${ends_on}`,
    ends_after && `${ends_after} ${ends_after === 1 ? "time" : "times"}`,
  ].filter(Boolean).join(", ");
}

/** "every month", "every 2 weeks" */
export const rhythm = (frequency: keyof typeof UNITS, every: number): string =>
  every === 1 ? `every ${UNITS[frequency]}` : `every ${every} ${UNITS[frequency]}s`;

/** "1st and 15th", "last Friday" */
export const monthDays = (days: MonthDays): string => and(namesOf(days));

const namesOf = ({ month_days = [], month_weekdays = [] }: MonthDays): string[] => [
  ...month_days.map(dayOfMonth),
  ...month_weekdays.map(weekdayOfMonth),
];

/** The recurring part of a date, without a year: "Friday", "28 February". */
const part = (day: string, parts: Intl.DateTimeFormatOptions): string =>
  new Intl.DateTimeFormat("en-GB", { ...parts, timeZone: "UTC" }).format(new Date(`${day}T00:00:00Z`));

function dayOfMonth(day: number): string {
  if (day === 31) return "last day";
  return ordinal(day) + (day > 28 ? " (or the last day)" : "");
}

const WEEKDAYS: Record<string, string> = {
  MO: "Monday",
  TU: "Tuesday",
  WE: "Wednesday",
  TH: "Thursday",
  FR: "Friday",
  SA: "Saturday",
  SU: "Sunday",
};
const PLACES: Record<string, string> = { 1: "first", 2: "second", 3: "third", 4: "fourth", [-1]: "last" };
const weekdayOfMonth = (weekday: string) => `${PLACES[weekday.slice(0, -2)]} ${WEEKDAYS[weekday.slice(-2)]}`;

const ORDINALS = new Intl.PluralRules("en", { type: "ordinal" });
const SUFFIXES: Record<string, string> = { one: "st", two: "nd", few: "rd", other: "th" };
const ordinal = (number: number) => number + SUFFIXES[ORDINALS.select(number)]!;
