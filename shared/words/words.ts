/** The languages of the service. A further one is a folder beside `en` and a line here; its type asks for every message that `en` has. */
import { en } from "./en/mod.ts";

export type Words = typeof en;

/** The refusals that have words; one that a rule names without any does not compile. */
export type RefusalCode = keyof Words["refusals"];

/** What the reader of an import can assume. */
export type Assumption = keyof Words["assumptions"];

export type Language = "en";

export type Languages = Readonly<Record<Language, Words>>;

export const LANGUAGES: Languages = { en };

export const wordsOf = (language: Language): Words => LANGUAGES[language];
