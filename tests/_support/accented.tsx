/** @jsxImportSource hono/jsx */
/**
 * Test language `en-XA`: every catalog letter has an accent, and facts remain unchanged. A word without accents is
 * hard-coded, so translations would miss it.
 */
import { isValidElement } from "hono/jsx";
import type { Words } from "../../shared/words/words.ts";

const PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ACCENTED = "ÁƁĆĎÉƑĜĤÍĴĶĹḾŃÓṔɊŔŚŤÚṼŴẊÝŹáƀćďéƒĝĥíĵķĺḿńóṕɋŕśťúṽŵẋýź";

export const accented = <W extends Words>(words: W): W => ({ ...accentAll(words, []) as W, language: "en-XA" });

/**
 * @param facts arguments of the message: strings, matched anywhere in our text, and elements, which remain unchanged.
 */
function accentAll(value: unknown, facts: unknown[]): unknown {
  if (typeof value === "string") return accent(value, facts);
  if (typeof value === "function") {
    return (...args: unknown[]) => {
      const passed: unknown[] = [];
      return accentAll(value(...args.map((arg) => pass(arg, passed))), passed);
    };
  }
  if (typeof value !== "object" || value === null || facts.includes(value)) return value;
  if (Array.isArray(value)) return value.map((one) => accentAll(one, facts));
  // Attributes of our own elements are catalog strings, so only children get accents.
  if (isValidElement(value)) {
    const { children, props } = value as unknown as { children: unknown; props: Record<string, unknown> };
    return Object.assign(Object.create(Object.getPrototypeOf(value)), value, {
      children: accentAll(children, facts),
      props: { ...props, children: accentAll(props.children, facts) },
    });
  }
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, accentAll(one, facts)]));
}

/**
 * Records an argument of a message as a fact, and the result of a function argument (a date, a link around our words).
 */
function pass(value: unknown, facts: unknown[]): unknown {
  if (typeof value === "function") {
    return (...args: unknown[]) => {
      const answer = value(...args.map((arg) => accentAll(arg, facts)));
      facts.push(answer);
      return answer;
    };
  }
  if (typeof value !== "object" || value === null || isValidElement(value)) {
    facts.push(value);
    return value;
  }
  if (Array.isArray(value)) return value.map((one) => pass(one, facts));
  facts.push(...Object.keys(value).filter((key) => /^[A-Z]{3}$/.test(key)));
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, pass(one, facts)]));
}

function accent(text: string, facts: readonly unknown[]): string {
  const texts = facts.filter((fact): fact is string => typeof fact === "string" && fact !== "");
  const whole = texts.toSorted((one, other) => other.length - one.length).map(escape).join("|");
  const pattern = new RegExp(`(?<!\\p{L})(?:${whole || "(?!)"})(?!\\p{L})|[A-Za-z]`, "gu");
  return text.replace(pattern, (found) => (found.length === 1 ? ACCENTED[PLAIN.indexOf(found)] : undefined) ?? found);
}

const escape = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** Words of three or more letters that have no accent. */
export const plainWords = (text: string): string[] => text.match(/(?<!\p{L})[A-Za-z]{3,}(?!\p{L})/gu) ?? [];
