/** Schedule arithmetic against a calendar walk, on as many random rules as time allows. */
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { daysAfter } from "../../shared/iso_day.ts";
import type { TestDatabase } from "../_support/database.ts";
import { dueDate, endlessDates, type Schedule } from "./schedule_oracle.ts";

const BATCH = 2_000;

// Arithmetic fails most often at month ends, so the test favors them.
const anchors = fc.oneof(
  fc.integer({ min: 0, max: 80 * 365 }).map((days) => daysAfter("2020-01-01", days)),
  fc.constantFrom("2020-02-29", "2024-02-29", "2026-01-31", "2027-01-30", "2028-08-31", "2096-02-29", "2099-11-30"),
);
/** Mostly near the anchor: a daily schedule has 29,000 dates in 80 years. */
const distances = fc.oneof(fc.integer({ min: -40, max: 800 }), fc.integer({ min: -40, max: 80 * 365 }));
const monthDays = fc.oneof(fc.constantFrom(-1, 28, 29, 30, 31), fc.integer({ min: 1, max: 31 }));

interface Question extends Schedule {
  /** A day for the query. */
  day: string;
}

const questions = fc.record({
  frequency: fc.constantFrom<Schedule["frequency"]>(
    "once",
    "daily",
    "weekly",
    "yearly",
    "monthly",
    "monthly",
    "monthly",
  ),
  every: fc.oneof(fc.constantFrom(1, 2, 3, 6, 12), fc.integer({ min: 1, max: 120 })),
  anchor_on: anchors,
  month_days: fc.option(fc.uniqueArray(monthDays, { minLength: 1, maxLength: 4 }), { freq: 3 }),
  month_weekdays: fc.option(
    fc.uniqueArray(fc.tuple(fc.constantFrom(1, 2, 3, -1), fc.integer({ min: 1, max: 7 })), {
      minLength: 1,
      maxLength: 4,
      selector: String,
    }),
    { freq: 2 },
  ),
  weekend_rule: fc.constantFrom<Schedule["weekend_rule"]>("none", "before", "after"),
  ends_on: fc.option(distances),
  ends_after: fc.option(fc.integer({ min: 1, max: 1_200 })),
  day: distances,
}).map((rule): Question => ({
  ...rule,
  month_days: rule.frequency === "monthly" && !rule.month_weekdays ? rule.month_days : null,
  month_weekdays: rule.frequency === "monthly" ? rule.month_weekdays : null,
  ends_on: rule.ends_on === null ? null : daysAfter(rule.anchor_on, Math.max(0, rule.ends_on)),
  day: daysAfter(rule.anchor_on, rule.day),
}));

/** Throws on the first random rule, between 2020 and 2100, for which SQL and the calendar disagree. */
export async function checkSchedules(database: TestDatabase, rules: number, seed = 20261120): Promise<void> {
  for (let batch = 0; batch * BATCH < rules; batch++) {
    const samples = fc.sample(questions, { numRuns: Math.min(BATCH, rules - batch * BATCH), seed: seed + batch });
    const answers = await database.query(
      `select app.schedule_index(bill, day) as index, app.due_index(bill, day) as due_index, app.last_index(bill) as last,
         app.scheduled_on(bill, app.schedule_index(bill, day)) as next,
         to_jsonb(array(select app.scheduled_on(bill, n) from generate_series(0, 5) as n)) as dates,
         to_jsonb(array(select app.due_on(app.scheduled_on(bill, n), bill.weekend_rule) from generate_series(0, 5) as n)) as dues
       from jsonb_array_elements($1::jsonb) with ordinality as questions (question, position),
         jsonb_populate_record(null::app.expenses, question) as bill, cast(question ->> 'day' as date) as day
       order by position`,
      [JSON.stringify(samples.map(asRow))],
    );
    for (const [position, question] of samples.entries()) {
      assertEquals(answers[position], answersTo(question), JSON.stringify(question));
    }
  }
}

/** The query with its weekdays in the column's format. */
const asRow = ({ month_weekdays, ...question }: Question) => ({
  ...question,
  month_days: month_weekdays?.map(([which, weekday]) => (which < 0 ? 5 : which) * 100 + weekday) ?? question.month_days,
});

/** The expected result of the query above. */
function answersTo(question: Question): Record<string, unknown> {
  const until = [question.day, question.ends_on ?? ""].toSorted().at(-1)!;
  const dates: string[] = [];
  for (const date of endlessDates(question)) {
    dates.push(date);
    // Includes the weekend after, because a due date may precede its scheduled date.
    if (dates.length >= 6 && date > daysAfter(until, 2)) break;
  }
  const first = Array.from({ length: 6 }, (_, n) => dates[n] ?? null);
  const index = dates.filter((date) => date < question.day).length;
  const ends = question.frequency === "once" ? [1] : [
    question.ends_after ?? Infinity,
    question.ends_on ? dates.filter((date) => date <= question.ends_on!).length : Infinity,
  ];
  return {
    index,
    due_index: dates.filter((date) => dueDate(date, question.weekend_rule) < question.day).length,
    last: Math.min(...ends) === Infinity ? null : Math.min(...ends) - 1,
    next: dates[index] ?? null,
    dates: first,
    dues: first.map((date) => date && dueDate(date, question.weekend_rule)),
  };
}
