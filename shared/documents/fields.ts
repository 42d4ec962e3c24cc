/** Single fields of a document, cleaned; a malformed field is absent. */
import { cleanLine } from "../clean_text.ts";
import { cut, shorten } from "../import/shorten.ts";
import { isDay } from "../iso_day.ts";

const LONGEST_NAME = 120;
const LONGEST_NUMBER = 60;

/** A name, shortened to fit. */
export const nameOf = (text: string | undefined): string | undefined =>
  text ? shorten(cleanLine(cut(text, 500)), LONGEST_NAME) || undefined : undefined;

/** A number; a shortened number would be wrong, so a long one is absent. */
export function numberOf(text: string | undefined): string | undefined {
  if (!text || text.length > 2 * LONGEST_NUMBER) return undefined;
  const number = cleanLine(text);
  return number && number.length <= LONGEST_NUMBER ? number : undefined;
}

/** 2026-11-26 with or without a time zone, or 20261126. */
export function dayOf(text: string | undefined): string | undefined {
  const [, year, month, day] = /^(\d{4})-?(\d\d)-?(\d\d)(?!\d)/.exec(text ?? "") ?? [];
  const iso = `${year}-${month}-${day}`;
  return isDay(iso) ? iso : undefined;
}

/** ISO 4217. */
export const currencyOf = (text: string | undefined): string | undefined =>
  text && /^[A-Z]{3}$/.test(text) ? text : undefined;

/** The value, if there is exactly one. */
export const only = <Value>(values: Value[]): Value | undefined => values.length === 1 ? values[0] : undefined;

export const unique = (values: string[]): string[] => [...new Set(values)];

/** Only the fields that have a value. */
export const present = <Fields extends Record<string, unknown>>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]?: Exclude<Fields[Name], undefined>;
  };
