const DAY = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Whether a day, written 2026-11-26, exists: `Date` takes February 30 for a day in March, the database rejects it, and
 * the year 0 as well.
 */
export const isDay = (day: unknown): day is string =>
  typeof day === "string" && DAY.test(day) && day >= "0001" &&
  new Date(`${day}T00:00:00Z`).toJSON()?.slice(0, 10) === day;
