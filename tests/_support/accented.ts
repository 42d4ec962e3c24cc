/**
 * Test language `en-XA`: English with an accent on every catalog letter and none on the facts. A plain word in an
 * answer is hard-coded outside the catalog, so translations would miss it.
 */
import { en } from "../../shared/words/en/mod.ts";
import type { Words } from "../../shared/words/words.ts";

const PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ACCENTED = "ÁƁĆĎÉƑĜĤÍĴĶĹḾŃÓṔɊŔŚŤÚṼŴẊÝŹáƀćďéƒĝĥíĵķĺḿńóṕɋŕśťúṽŵẋýź";

/** Excludes names of fields and tools (`due_on`), JSON, and quoted text, because they are not language. */
const CODE = String.raw`\p{Ll}+(?:_\p{Ll}+)+|\{[^{}]*\}|\[[^[\]]*\]|"[^"]*"`;

const escape = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

/** Matches code and facts, as whole words, longest first. */
const patternOf = (facts: Iterable<string>) => {
  const all = [...new Set(facts)].filter(({ length }) => length > 0 && length <= 200).toSorted((one, other) =>
    other.length - one.length
  ).map(escape);
  return new RegExp(
    [CODE, ...(all.length > 0 ? [`(?<![\\p{L}\\d])(?:${all.join("|")})(?![\\p{L}\\d])`] : [])].join("|"),
    "gu",
  );
};

/** Every string in a value, at any depth. */
export function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" ? Object.values(value ?? {}).flatMap(stringsIn) : [];
}

const accentLetters = (text: string) => text.replace(/[A-Za-z]/g, (letter) => ACCENTED[PLAIN.indexOf(letter)]!);

function accent(text: string, facts: string[]): string {
  let accented = "";
  let end = 0;
  for (const { index, 0: fact } of text.matchAll(patternOf(facts))) {
    accented += accentLetters(text.slice(end, index)) + fact;
    end = index + fact.length;
  }
  return accented + accentLetters(text.slice(end));
}

function accentAll(value: unknown, facts: string[]): unknown {
  if (typeof value === "string") return accent(value, facts);
  if (typeof value === "function") return (...args: unknown[]) => accentAll(value(...args), stringsIn(args));
  if (value instanceof Promise) return value.then((part) => accentAll(part, facts));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, accentAll(part, facts)]));
}

export const accented = accentAll(en, []) as Words;

/** @returns words of three or more letters that have no accent and are not facts. */
export const plainWords = (text: string, facts: Iterable<string>): string[] =>
  text.replace(patternOf(facts), " ").match(/(?<![\p{L}\d])[A-Za-z]{3,}(?![\p{L}\d])/gu) ?? [];
