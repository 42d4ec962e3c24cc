/** Schedule arithmetic: random rules, examples, and descriptions. */
import { assertEquals } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import { en } from "../../shared/words/en/mod.ts";
import type { Schedule as ScheduleFacts } from "../../shared/words/en/schedule.ts";
import type { Schedule } from "./schedule_oracle.ts";
import { checkSchedules } from "./schedule_property.ts";

const database = await sharedDatabase();

Deno.test("schedules match a walk through the calendar", () => checkSchedules(database, 2_000));

const SERIES: [string, Partial<Schedule>, string[]][] = [
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
  ["second Tuesdays", { anchor_on: "2026-11-10", month_days: [202] }, ["2026-11-10", "2026-12-08", "2027-01-12"]],
  ["last Fridays", { anchor_on: "2026-10-30", month_days: [505] }, ["2026-10-30", "2026-11-27", "2026-12-25"]],
  ["weekdays whose order changes", { anchor_on: "2026-11-02", month_days: [101, 102] }, [
    "2026-11-02",
    "2026-11-03",
    "2026-12-01",
    "2026-12-07",
  ]],
  ["every 6 weeks", { frequency: "weekly", every: 6, anchor_on: "2026-11-20" }, ["2026-11-20", "2027-01-01"]],
  ["quarters", { every: 3, anchor_on: "2025-11-30" }, ["2025-11-30", "2026-02-28", "2026-05-30"]],
];
for (const [name, schedule, dates] of SERIES) {
  Deno.test(`a schedule counts from its anchor: ${name}`, async () =>
    assertEquals(await firstDates(schedule, dates.length), dates));
}

const WORDS: [Partial<Schedule>, string][] = [
  [{ anchor_on: "2026-11-05" }, "every month on the 5th"],
  [{ month_days: [5] }, "every month on the 5th"],
  [{ month_days: [-1] }, "every month on the last day"],
  [{ month_days: [30] }, "every month on the 30th (or the last day)"],
  [{ every: 3, month_days: [2] }, "every 3 months on the 2nd"],
  [{ month_days: [15, 1] }, "twice a month on the 1st and 15th"],
  [{ month_days: [-1, 15] }, "twice a month on the 15th and last day"],
  [{ month_days: [1, 11, 21] }, "three times a month on the 1st, 11th and 21st"],
  [{ every: 2, month_days: [1, 15] }, "every 2 months on the 1st and 15th"],
  [{ month_days: [202] }, "every month on the second Tuesday"],
  [{ month_days: [101, 505] }, "twice a month on the first Monday and last Friday"],
  [{ every: 12, month_days: [404] }, "every 12 months on the fourth Thursday"],
  [{ frequency: "weekly", every: 6, anchor_on: "2026-11-20" }, "every 6 weeks on Friday"],
  [{ frequency: "daily" }, "every day"],
  [{ frequency: "weekly", every: 2, anchor_on: "2026-11-20" }, "every 2 weeks on Friday"],
  [{ frequency: "yearly", anchor_on: "2024-02-29" }, "every year on 29 February"],
  [{ frequency: "once", anchor_on: "2026-12-01" }, "once on 2026-12-01"],
  [{ weekend_rule: "before" }, "every month on the 1st, or the Friday before if that is a weekend"],
  [
    { weekend_rule: "after", ends_after: 12 },
    "every month on the 1st, or the Monday after if that is a weekend, 12 times",
  ],
  [{ ends_on: "2027-05-31" }, "every month on the 1st, until 2027-05-31"],
];
for (const [schedule, words] of WORDS) {
  Deno.test(`a schedule in words: ${words}`, async () => {
    const [row] = await database.query<{ facts: ScheduleFacts }>(
      "select app.describe_schedule(jsonb_populate_record(null::app.expenses, $1)) as facts",
      [JSON.stringify({ ...DEFAULTS, ...schedule })],
    );
    assertEquals(en.schedule(row!.facts), words);
  });
}

const DEFAULTS = { frequency: "monthly", every: 1, anchor_on: "2026-01-01", weekend_rule: "none" };

async function firstDates(schedule: Partial<Schedule>, count: number): Promise<string[]> {
  const rows = await database.query<{ day: string }>(
    `select app.scheduled_on(jsonb_populate_record(null::app.expenses, $1), n) as day from generate_series(0, $2::int - 1) as n`,
    [JSON.stringify({ ...DEFAULTS, ...schedule }), count],
  );
  return rows.map(({ day }) => day);
}
