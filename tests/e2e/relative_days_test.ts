/** Weekdays and unlisted periods are resolved in the owner's calendar. */
import { assertEquals, assertMatch } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import { type Json, newMember } from "./connector_harness.ts";

const database = await sharedDatabase();

/** It is Tuesday, 6 October 2026, 11:00 in Berlin. */
const newPerson = (clock?: () => Date) => newMember(database, { organization: "Acme", clock });
const dayOf = async (date: string, clock?: () => Date) =>
  (await (await newPerson(clock)).ok("log_expenses", { items: [{ name: "Lunch", amount: 9, date }] })).data.results[0]
    .date;

Deno.test("a weekday of an expense means the latest one, in the owner's calendar", async () => {
  assertEquals(await dayOf("Monday"), "2026-10-05");
  assertEquals(await dayOf("Freitag"), "2026-10-02");
  assertEquals(await dayOf("last Tuesday"), "2026-09-29");
  // In Berlin it is already Wednesday.
  assertEquals(await dayOf("Tuesday", () => new Date("2026-10-06T22:30:00Z")), "2026-10-06");
});

Deno.test("on that weekday itself the answer asks, and its hint works", async () => {
  const person = await newPerson();
  const { hint } = await person.fails("log_expenses", { items: [{ name: "Lunch", amount: 9, date: "Tuesday" }] });
  assertMatch(hint, /"2026-10-06" or "2026-09-29"/);
  await person.ok("log_expenses", { items: [{ name: "Lunch", amount: 9, date: "2026-09-29" }] });
});

Deno.test("a weekday of a bill means the next one", async () => {
  const person = await newPerson();
  const { data } = await person.ok("add_bill", {
    name: "Cleaning",
    amount: 120,
    frequency: "biweekly",
    first_due: "Monday",
  });
  assertEquals(data.bill.next_due, "2026-10-12");
});

Deno.test("last_3_months ends today in sums, lists and charts, and the answer names its days", async () => {
  const person = await newPerson();
  const lunch = (date: string) => ({ name: "Lunch", amount: 10, date });
  await person.ok("log_expenses", { items: [lunch("2026-07-06"), lunch("2026-07-07"), lunch("2026-10-06")] });
  const { data, understood } = await person.ok("summarize_spending", { period: "last 3 months" });
  assertEquals([data.total.amount, data.period.from, data.period.to], ["20.00", "2026-07-07", "2026-10-06"]);
  assertEquals(understood.length, 1);
  assertEquals((await person.ok("list_expenses", { period: "last_3_months" })).total_count, 2);
  assertEquals((await person.ok("list_expenses", { from: "last quarter", to: "last quarter" })).total_count, 2);
  const chart = await person.ok("show_spending_chart", { period: "last_3_months" });
  assertMatch(chart.data.table, /in the last 3 months/);
});

Deno.test("next_month means the coming month in sums, and next_week in dates", async () => {
  const person = await newPerson();
  await person.ok("add_bill", { name: "Rent", amount: "900", first_due: "2026-11-01", frequency: "monthly" });
  const coming = { include_upcoming: true };
  const { data } = await person.ok("summarize_spending", { period: "next month", ...coming });
  assertEquals([data.total.upcoming, data.period.from, data.period.to], ["900.00", "2026-11-01", "2026-11-30"]);
  const week = await person.ok("summarize_spending", { from: "next_week", to: "next_week", ...coming });
  assertEquals([week.data.period.from, week.data.period.to], ["2026-10-12", "2026-10-18"]);
  const year = await person.ok("summarize_spending", { period: "next_year", ...coming });
  assertEquals([year.data.total.upcoming, year.data.period.from], ["10800.00", "2027-01-01"]);
  const { data: { period } } = await person.ok("summarize_spending", { period: "today" });
  assertEquals([period.from, period.to], ["2026-10-06", "2026-10-06"]);
  const paid = await person.ok("mark_bill_paid", { bill_name: "Rent", due_on: "next month" });
  assertEquals(paid.data.occurrence.due_on, "2026-11-01");
});

Deno.test("a period is rejected as the day of an expense", async () => {
  const person = await newPerson();
  const error: Json = await person.fails("log_expenses", {
    items: [{ name: "Lunch", amount: 9, date: "last_month" }],
  });
  assertEquals(error.field, "items[0].date");
});
