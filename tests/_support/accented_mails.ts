/**
 * Test language `en-XA`: every catalog word has accents, and facts remain unchanged. A plain word on a page or in a
 * mail is hard-coded, so translations would miss it.
 */
import { isValidElement } from "hono/jsx";
import type { Words } from "../../shared/words/words.ts";

const PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const ACCENTED = [..."åƀçđéƒĝĥîĵķļɱñöþǫŕšţûṽŵẋýžÅƁÇÐÉƑĜĤÎĴĶĻṀÑÖÞǪŔŠŢÛṼŴẊÝŽ"];

export const accented = <W extends Words>(words: W): W => ({ ...accentedValue(words, []) as W, language: "en-XA" });

function accentedValue(value: unknown, facts: readonly string[]): unknown {
  if (typeof value === "string") return accentedText(value, facts);
  if (typeof value === "function") return (...args: unknown[]) => accentedValue(value(...args), textsIn(args));
  if (Array.isArray(value)) return value.map((one) => accentedValue(one, facts));
  if (typeof value !== "object" || value === null) return value;
  if (isValidElement(value)) return accentedElement(value, facts);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, accentedValue(one, facts)]));
}

/** Words with markup: accents the content of elements, not their attributes. */
function accentedElement(element: object, facts: readonly string[]): unknown {
  const { children, props } = element as { children: unknown; props: Record<string, unknown> };
  return Object.assign(Object.create(Object.getPrototypeOf(element)), element, {
    children: accentedValue(children, facts),
    props: { ...props, children: accentedValue(props.children, facts) },
  });
}

/** Longest first, so that a fact matches before its parts. */
function accentedText(text: string, facts: readonly string[]): string {
  const fact = facts.toSorted((a, b) => b.length - a.length).find((one) => text.includes(one));
  if (fact !== undefined) {
    return text.split(fact).map((part) => accentedText(part, facts.filter((one) => one !== fact))).join(fact);
  }
  return [...text].map((letter) => ACCENTED[PLAIN.indexOf(letter)] ?? letter).join("");
}

/** Text facts of a message. Skips single letters, because they occur in every word. */
const textsIn = (facts: unknown): string[] =>
  typeof facts === "string"
    ? facts.length > 1 ? [facts] : []
    : typeof facts === "object" && facts !== null
    ? Object.values(facts).flatMap(textsIn)
    : [];

/**
 * Words that are neither accented nor facts; empty when all text comes from a catalog.
 * @param facts may appear anywhere, even truncated
 */
export function plainWords(text: string, facts: unknown): string[] {
  const known = textsIn(facts).flatMap(wordsIn);
  return [...new Set(wordsIn(text))].filter((word) => !known.some((fact) => fact.startsWith(word)));
}

const wordsIn = (text: string): string[] => text.match(/(?<!\p{L})[A-Za-z]{2,}(?!\p{L})/gu) ?? [];
