/**
 * The catalogs with the words of pages. `words.ts` contains only the other words, because the connector shows no pages
 * and starts faster without theirs.
 */
import { en } from "./en/mod.ts";
import * as pages from "./en/pages/mod.ts";
import type { Language, Words } from "./words.ts";

export type PageWords = typeof pages;

export type Catalog = Words & { pages: PageWords };

export type Languages = Readonly<Record<Language, Catalog>>;

/** A new language needs a line here and one in `words.ts`. */
export const LANGUAGES: Languages = { en: { ...en, pages } };
