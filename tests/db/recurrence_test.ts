/** The schedule arithmetic of migration 0800 against a walk through the calendar, and in words. */
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { openDatabase, type TestDatabase } from "../_support/database.ts";
import { dueDate, endlessDates, type Schedule } from "./schedule_oracle.ts";

const RULES = 2_000;

const addDays = (date: string, days: number) =>
  new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10);

// Ends of months are where arithmetic goes wrong, so they come up more often than by chance.
const anchors = fc.oneof(
  fc.integer({ min: 0, max: 80 * 365 }).map((days) => addDays("2020-01-01", days)),
  fc.constantFrom("2020-02-29", "2024-02-29", "2026-01-31", "2027-01-30", "2028-08-31", "2096-02-29", "2099-11-30"),
);
/** Mostly near the anchor: a daily schedule has 29,000 dates in 80 years. */
const distances = fc.oneof(fc.integer({ min: -40, max: 800 }), fc.integer({ min: -40, max: 80 * 365 }));
const monthDays = fc.oneof(fc.constantFrom(-1, 28, 29, 30, 31), fc.integer({ min: 1, max: 31 }));

interface Question extends Schedule {
  /** A day to ask about. */
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
  weekend_rule: fc.constantFrom<Schedule["weekend_rule"]>("none", "before", "after"),
  ends_on: fc.option(distances),
  ends_after: fc.option(fc.integer({ min: 1, max: 1_200 })),
  day: distances,
}).map((rule): Question => ({
  ...rule,
  month_days: rule.frequency === "monthly" ? rule.month_days : null,
  ends_on: rule.ends_on === null ? null : addDays(rule.anchor_on, Math.max(0, rule.ends_on)),
  day: addDays(rule.anchor_on, rule.day),
}));

Deno.test("schedules match a walk through the calendar", async () => {
  await withDatabase(async (database) => {
    const samples = fc.sample(questions, { numRuns: RULES, seed: 20261120 });
    const answers = await database.query(
      `select app.schedule_index(bill, day) as index, app.due_index(bill, day) as due_index, app.last_index(bill) as last,
         app.scheduled_on(bill, app.schedule_index(bill, day)) as next,
         to_jsonb(array(select app.scheduled_on(bill, n) from generate_series(0, 5) as n)) as dates,
         to_jsonb(array(select app.due_on(app.scheduled_on(bill, n), bill.weekend_rule) from generate_series(0, 5) as n)) as dues
       from jsonb_array_elements($1::jsonb) with ordinality as questions (question, position),
         jsonb_populate_record(null::app.expenses, question) as bill, cast(question ->> 'day' as date) as day
       order by position`,
      [JSON.stringify(samples)],
    );
    for (const [position, question] of samples.entries()) {
      assertEquals(answers[position], answersTo(question), JSON.stringify(question));
    }
  });
});

/** What the query above must answer. */
function answersTo(question: Question): Record<string, unknown> {
  const until = [question.day, question.ends_on ?? ""].toSorted().at(-1)!;
  const dates: string[] = [];
  for (const date of endlessDates(question)) {
    dates.push(date);
    // Past the weekend too, by which a due date may come before its scheduled one.
    if (dates.length >= 6 && date > addDays(until, 2)) break;
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

Deno.test("a schedule is counted from its anchor and clamped to short months", async (t) => {
  await withDatabase(async (database) => {
    const cases: [string, Partial<Schedule>, string[]][] = [
      ["the 31st", { anchor_on: "2026-01-31" }, ["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30"]],
      ["29 February", { frequency: "yearly", anchor_on: "2024-02-29" }, [
        "2024-02-29",
        "2025-02-28",
        "2026-02-28",
        "2027-02-28",
        "2028-02-29",
      ]],
      ["29 February of a century", { frequency: "yearly", every: 4, anchor_on: "2096-02-29" }, [
        "2096-02-29",
        "2100-02-28",
        "2104-02-29",
      ]],
      ["twice a month", { anchor_on: "2026-01-15", month_days: [1, 15] }, ["2026-01-15", "2026-02-01", "2026-02-15"]],
      ["days that fall together", { anchor_on: "2026-01-30", month_days: [30, -1] }, [
        "2026-01-30",
        "2026-01-31",
        "2026-02-28",
        "2026-03-30",
      ]],
      ["quarters", { every: 3, anchor_on: "2025-11-30" }, ["2025-11-30", "2026-02-28", "2026-05-30"]],
    ];
    for (const [name, schedule, dates] of cases) {
      await t.step(name, async () => assertEquals(await firstDates(database, schedule, dates.length), dates));
    }
  });
});

Deno.test("schedule_text() says the schedule in words", async (t) => {
  await withDatabase(async (database) => {
    const cases: [Partial<Schedule>, string][] = [
      [{ anchor_on: "2026-11-05" }, "every month on the 5th"],
      [{ month_days: [5] }, "every month on the 5th"],
      [{ month_days: [-1] }, "every month on the last day"],
      [{ month_days: [30] }, "every month on the 30th (or the last day)"],
      [{ every: 3, month_days: [2] }, "every 3 months on the 2nd"],
      [{ month_days: [15, 1] }, "twice a month on the 1st and 15th"],
      [{ month_days: [-1, 15] }, "twice a month on the 15th and last day"],
      [{ month_days: [1, 11, 21] }, "three times a month on the 1st, 11th and 21st"],
      [{ every: 2, month_days: [1, 15] }, "every 2 months on the 1st and 15th"],
      [{ frequency: "daily" }, "every day"],
      [{ frequency: "weekly", every: 2, anchor_on: "2026-11-20" }, "every 2 weeks on Friday"],
      [{ frequency: "yearly", anchor_on: "2024-02-29" }, "every year on 29 February"],
      [{ frequency: "once", anchor_on: "2026-12-01" }, "once on 1 December 2026"],
      [{ weekend_rule: "before" }, "every month on the 1st, on a weekend the Friday before"],
      [{ weekend_rule: "after", ends_after: 12 }, "every month on the 1st, on a weekend the Monday after, 12 times"],
      [{ ends_on: "2027-05-31" }, "every month on the 1st, until 31 May 2027"],
    ];
    for (const [schedule, words] of cases) {
      await t.step(words, async () => {
        const [row] = await database.query(
          "select app.schedule_text(jsonb_populate_record(null::app.expenses, $1)) as words",
          [
            JSON.stringify({ ...DEFAULTS, ...schedule }),
          ],
        );
        assertEquals(row, { words });
      });
    }
  });
});

const DEFAULTS = { frequency: "monthly", every: 1, anchor_on: "2026-01-01", weekend_rule: "none" };

async function firstDates(database: TestDatabase, schedule: Partial<Schedule>, count: number): Promise<string[]> {
  const rows = await database.query<{ day: string }>(
    `select app.scheduled_on(jsonb_populate_record(null::app.expenses, $1), n) as day from generate_series(0, $2::int - 1) as n`,
    [JSON.stringify({ ...DEFAULTS, ...schedule }), count],
  );
  return rows.map(({ day }) => day);
}

async function withDatabase(work: (database: TestDatabase) => Promise<void>): Promise<void> {
  const database = await openDatabase();
  try {
    await work(database);
  } finally {
    await database.close();
  }
}
