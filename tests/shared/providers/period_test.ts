import { assertEquals } from "@std/assert";
import { lastPeriod, monthOf, readPeriod } from "../../../shared/providers/period.ts";

Deno.test("lastPeriod() returns the last complete calendar month in UTC", () => {
  const cases = [
    ["2026-10-02T06:00:00Z", "2026-09-01"],
    ["2026-10-01T00:00:00Z", "2026-09-01"],
    ["2026-09-30T23:59:59.999Z", "2026-08-01"],
    ["2026-01-31T12:00:00Z", "2025-12-01"],
    ["2028-03-31T12:00:00Z", "2028-02-01"],
  ];
  for (const [now, period] of cases) assertEquals(lastPeriod(new Date(now!)), period);
});

Deno.test("monthOf() ends where the next month begins", () => {
  assertEquals(monthOf("2026-02-01"), { start: "2026-02-01", end: "2026-03-01" });
  assertEquals(monthOf("2026-12-01"), { start: "2026-12-01", end: "2027-01-01" });
});

Deno.test("readPeriod() accepts only a past month, in two spellings", () => {
  const now = new Date("2026-10-01T00:00:00Z");
  for (const text of ["2026-09", "2026-09-01"]) assertEquals(readPeriod(text, now), "2026-09-01");
  assertEquals(readPeriod("2024-02", now), "2024-02-01");
  assertEquals(readPeriod("2026-09", new Date("2026-09-30T23:59:59Z")), null);
  for (
    const text of ["", "2026-10", "2026-9", "2026-00", "2026-13", "2026-09-02", " 2026-09", "2026-09\n", "1999-12"]
  ) {
    assertEquals(readPeriod(text, now), null, text);
  }
});
