/** 100,000 random schedules in the years 2020 to 2100, compared with a calendar walk. */
import { openDatabase } from "../_support/database.ts";
import { checkSchedules } from "../db/schedule_property.ts";

Deno.test("100,000 random schedules match a walk through the calendar", async () => {
  await using database = await openDatabase();
  await checkSchedules(database, 100_000);
});
