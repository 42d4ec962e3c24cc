/** Finds named fields in lines of text, and the values beside or below the names. */
import { type Amount, amountsIn, dayAt, type FoundDay, plainText } from "./values.ts";
import { ASIDES, type Known, type Label, LABELS } from "./labels.ts";
import type { Cell, Line } from "./lines.ts";

export interface Found {
  label: Label;
  languages: string[];
  /** The index of its line. */
  at: number;
  /** The index of its cell in the line. */
  cell: number;
  /** The cell's text after the name. */
  rest: string;
}

/** A form has about twenty per page; a list of thousands is not an invoice. */
const MOST_FOUND = 500;

export function findLabels(lines: Line[]): Found[] {
  const found: Found[] = [];
  for (const [at, line] of lines.entries()) {
    for (const [cell, { text }] of line.entries()) {
      const known = labelOf(plainText(text));
      if (!known) continue;
      found.push({ label: known.label, languages: known.languages, at, cell, rest: text.slice(known.name.length) });
      if (found.length === MOST_FOUND) return found;
    }
  }
  return found;
}

function labelOf(plain: string): Known | undefined {
  return LABELS.get(plain.slice(0, 2))?.find(({ name }) =>
    plain.startsWith(name) && (/[^a-z]$/.test(name) || !/^[\p{L}\d]/u.test(plain.slice(name.length)))
  );
}

/** The cell below, if it belongs to the column. */
function below(lines: Line[], { at, cell }: Found): Cell | undefined {
  const { x, end } = lines[at]![cell]!;
  return lines[at + 1]?.find((one) => one.x < end && one.end > x);
}

const NAME_END = /^[\s:.#°º=]+/;

/** The first value beside or below the name. */
function valueOf<Value>(lines: Line[], found: Found, read: (text: string) => Value | undefined): Value | undefined {
  const rest = found.rest.replace(NAME_END, "").replace(/^(?:\(.{0,20}\)|nr|no|am|le|il|el|op|bis|:)[\s.:]+/i, "");
  if (rest !== "") return read(rest);
  const beside = lines[found.at]![found.cell + 1];
  const value = beside && read(beside.text);
  if (value !== undefined) return value;
  const under = below(lines, found);
  return under && read(under.text);
}

export const dayOf = (lines: Line[], found: Found): FoundDay | undefined => valueOf(lines, found, dayAt);

/** A number with a digit; undefined if it may continue after a space. */
export const numberOf = (lines: Line[], found: Found): string | undefined =>
  valueOf(lines, found, (text) => {
    if (dayAt(text) || amountsIn(text)[0]?.at === 0) return undefined;
    const [, number, rest] = /^([A-Z\d][A-Z\d/._-]{1,39})(?=$|[\s,;)])(.*)$/iu.exec(text) ?? [];
    return number && /\d/.test(number) && !/^\s*\d/.test(rest!) ? number.replace(/[._-]+$/, "") : undefined;
  });

export const nameOf = (lines: Line[], found: Found): string | undefined =>
  valueOf(lines, found, (text) => /\p{L}{2}/u.test(text) && !/\d{3}/.test(text) ? text : undefined);

/** Whether only filler words separate the name of an amount from the amount. */
function isAside(text: string): boolean {
  const words = plainText(text).replace(/\d{1,2}(?:[.,]\d{1,2})? ?%/g, " ").split(/[\s:.,()=/*]+/).filter(Boolean);
  return words.every((word) => ASIDES.has(word) || /^[€£$]$/.test(word));
}

const COLUMNS: Label[] = ["number", "due", "net"];

/** The amounts of a name: in its line, or below it in a table of single fields. */
export function amountsOf(lines: Line[], found: Found, all: readonly Found[]): Amount[] {
  const own = amountsIn(found.rest);
  if (!isAside(found.rest.slice(0, own[0]?.at))) return [];
  const line = lines[found.at]!;
  const next = all.find(({ at, cell }) => at === found.at && cell > found.cell)?.cell ?? line.length;
  const beside: Amount[] = [];
  for (const { text } of line.slice(found.cell + 1, next)) {
    const amounts = amountsIn(text);
    if (amounts.length === 0 && !isAside(text)) break;
    beside.push(...amounts);
  }
  const signs = currencyIn(found.rest);
  const amounts = [...own, ...beside].map((one) => signs && !one.currency ? { ...one, currency: signs } : one);
  if (amounts.length > 0) return amounts;
  // A list's column of totals may also be below such a name.
  const isSingle = found.label !== "total" &&
    all.some(({ at, label }) => at === found.at && COLUMNS.includes(label));
  const under = isSingle ? below(lines, found) : undefined;
  const [one, ...others] = under ? amountsIn(under.text) : [];
  return one && others.length === 0 ? [signs && !one.currency ? { ...one, currency: signs } : one] : [];
}

/** "Total (EUR)" */
const currencyIn = (text: string): string | undefined =>
  /\b(?:eur|chf|gbp|usd)\b/i.exec(text.slice(0, 40))?.[0].toUpperCase() ??
    (/€/.test(text.slice(0, 40)) ? "EUR" : undefined);
