/** Days in ISO 8601 format, 2026-11-26, without a time zone. */
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Whether a day exists. `Date` turns February 30 into a day in March, but the database rejects that day, and the year
 * 0.
 */
export const isDay = (day: unknown): day is string =>
  typeof day === "string" && DAY.test(day) && day >= "0001" &&
  new Date(`${day}T00:00:00Z`).toJSON()?.slice(0, 10) === day;

/** The day this many days later; earlier, if negative. */
export const daysAfter = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);

/** The first day of the month this many months after a day's. */
export function monthsAfter(day: string, months: number): string {
  const [year, month] = day.split("-").map(Number) as [number, number];
  return new Date(Date.UTC(year, month - 1 + months, 1)).toISOString().slice(0, 10);
}

/** An instant as local time in a time zone, with its offset: 2026-11-26T15:30:00+01:00. */
export function localInstant(instant: string, timeZone = "UTC"): string {
  const at = new Date(instant);
  const parts = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" }).formatToParts(at);
  const offset = parts.find(({ type }) => type === "timeZoneName")!.value.slice("GMT".length) || "+00:00";
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)/.exec(offset)!;
  const shift = (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -60_000 : 60_000);
  return `${new Date(at.getTime() + shift).toISOString().slice(0, 19)}${sign}${hours}:${minutes}`;
}
