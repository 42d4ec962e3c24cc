/**
 * The dates of a schedule by walking the calendar with Temporal: slow, obvious, and independent of the SQL under test.
 */
import { Temporal } from "temporal-polyfill";

/** The schedule columns of `app.expenses`, by name. */
export interface Schedule {
  frequency: "once" | "daily" | "weekly" | "monthly" | "yearly";
  every: number;
  anchor_on: string;
  month_days: number[] | null;
  /** As `[which, ISO weekday]`, -1 for the last, instead of `month_days`. */
  month_weekdays?: [number, number][] | null;
  weekend_rule: "none" | "before" | "after";
  ends_on: string | null;
  ends_after: number | null;
}

/** Scheduled dates in order, without either end applied. */
export function* endlessDates(schedule: Schedule): Generator<string> {
  const anchor = Temporal.PlainDate.from(schedule.anchor_on);
  if (schedule.frequency === "once") return yield schedule.anchor_on;
  for (let step = 0;; step++) {
    const dates = datesOfStep(schedule, anchor, step * schedule.every);
    yield* dates.map(String).filter((date) => date >= schedule.anchor_on);
  }
}

/** When a scheduled date is due. */
export function dueDate(date: string, rule: Schedule["weekend_rule"]): string {
  let day = Temporal.PlainDate.from(date);
  while (rule !== "none" && day.dayOfWeek > 5) day = day.add({ days: rule === "before" ? -1 : 1 });
  return day.toString();
}

function weekdayOf(month: Temporal.PlainYearMonth, [which, weekday]: [number, number]): Temporal.PlainDate {
  const days = Array.from({ length: month.daysInMonth }, (_, index) => month.toPlainDate({ day: index + 1 }));
  return days.filter(({ dayOfWeek }) => dayOfWeek === weekday).at(which < 0 ? which : which - 1)!;
}

function datesOfStep(schedule: Schedule, anchor: Temporal.PlainDate, distance: number): Temporal.PlainDate[] {
  switch (schedule.frequency) {
    case "daily":
      return [anchor.add({ days: distance })];
    case "weekly":
      return [anchor.add({ weeks: distance })];
    case "yearly":
      return [anchor.add({ years: distance })];
    default: {
      const month = anchor.toPlainYearMonth().add({ months: distance });
      if (schedule.month_weekdays) {
        return schedule.month_weekdays.map((weekday) => weekdayOf(month, weekday)).toSorted(
          Temporal.PlainDate.compare,
        );
      }
      const days = (schedule.month_days ?? [anchor.day]).map((day) =>
        day === -1 ? month.daysInMonth : Math.min(day, month.daysInMonth)
      );
      return [...new Set(days)].toSorted((a, b) => a - b).map((day) => month.toPlainDate({ day }));
    }
  }
}
