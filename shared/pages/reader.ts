/**
 * Who reads a page: in which language, and by which habits dates are written. Until we know the person, their browser
 * says.
 */
import type { MiddlewareHandler } from "hono";
import type { AppContext, AppEnv } from "../http/app.ts";
import { localeOf } from "../words/locale.ts";
import { type PageFormat, pageFormat } from "../words/page_format.ts";
import { type Language, LANGUAGES, type Languages, type Words } from "../words/words.ts";

export interface Reader {
  /** BCP 47, of the words. */
  language: string;
  words: Words["pages"];
  format: PageFormat;
}

/**
 * Every page of an app reads its words from `c.get("reader")`. @param languages the catalogs; a test may bring its
 * own.
 */
export const readers = (languages: Languages = LANGUAGES): MiddlewareHandler<AppEnv> => async (c, next) => {
  const accepted = c.req.header("accept-language") ?? "";
  const { language, pages } = languages[languageIn(accepted, languages)];
  c.set("reader", { language, words: pages, format: formatFor(language, regionIn(accepted)) });
  await next();
};

/** The same reader, now that we know where they live. @param country ISO 3166-1 alpha-2. */
export function livingIn(c: AppContext, country: string): Reader {
  const reader = c.get("reader");
  return { ...reader, format: formatFor(reader.language, country) };
}

/** @param language of the words, which may be one country's (`pt-BR`); their reader may live in another. */
const formatFor = (language: string, country: string | undefined) =>
  pageFormat(localeOf({ language: new Intl.Locale(language).language, ...(country && { country }) }));

/** The first language of a browser that we have, else English. */
function languageIn(accepted: string, languages: Languages): Language {
  const wanted = accepted.split(",").map((entry) => entry.trim().split(/[-;]/)[0]!.toLowerCase());
  return (wanted.find((language) => Object.hasOwn(languages, language)) ?? "en") as Language;
}

/** The first region that a browser's English is of: `en-US` in `de-AT,en-US;q=0.9`. */
const regionIn = (accepted: string): string | undefined =>
  /(?:^|[\s,])en-(?:[A-Za-z]{4}-)?([A-Za-z]{2})\b/i.exec(accepted)?.[1]?.toUpperCase();
