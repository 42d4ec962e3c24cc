/** Calendar days as text, and seeded random numbers. Independent of the product. */

export const DAY_MS = 86_400_000;

/** `2026-01-31` and one day more is `2026-02-01`. */
export const plus = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);

export const daysBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / DAY_MS;

/** 0 is Sunday. */
export const weekdayOf = (day: string): number => new Date(day).getUTCDay();

export const dayOfMonth = (day: string): number => Number(day.slice(8));

export const isLastOfMonth = (day: string): boolean => dayOfMonth(plus(day, 1)) === 1;

/** All days from one to another, inclusive. */
export const range = (from: string, to: string): string[] =>
  Array.from({ length: daysBetween(from, to) + 1 }, (_, index) => plus(from, index));

/** The Monday of a day's week. */
export const mondayOf = (day: string): string => plus(day, -((weekdayOf(day) + 6) % 7));

/** The local calendar day of an instant. */
export function localDay(at: Date, timeZone: string): string {
  if (!calendars.has(timeZone)) {
    calendars.set(timeZone, new Intl.DateTimeFormat("en-CA", { timeZone, dateStyle: "short" }));
  }
  return calendars.get(timeZone)!.format(at);
}
const calendars = new Map<string, Intl.DateTimeFormat>();

export interface Chance {
  /** A whole number in a range, inclusive. */
  int(from: number, to: number): number;
  pick<Item>(items: readonly Item[]): Item;
  /** True once in this many times, on average. */
  oneIn(times: number): boolean;
}

/** The same numbers for the same seed (mulberry32). */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int: Chance["int"] = (from, to) => from + Math.floor(next() * (to - from + 1));
  return { int, pick: (items) => items[int(0, items.length - 1)]!, oneIn: (times) => int(1, times) === 1 };
}
