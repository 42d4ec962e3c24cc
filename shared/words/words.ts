/**
 * The languages of the service. To add one, add a folder beside `en`, and a line here and in `page_words.ts`; its type
 * requires every message that `en` has.
 */
import { en } from "./en/mod.ts";

export type Words = typeof en;

/** Refusals that have words; naming any other does not compile. */
export type RefusalCode = keyof Words["refusals"];

/** Tools that have a title and a description; naming any other does not compile. */
export type ToolName = keyof Words["tools"];

/** Assumptions that the import can make. */
export type Assumption = keyof Words["assumptions"];

export type Language = "en";

const LANGUAGES: Readonly<Record<Language, Words>> = { en };

export const wordsOf = (language: Language): Words => LANGUAGES[language];
