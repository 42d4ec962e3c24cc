/**
 * The reader of a page: language, and locale for dates and numbers. The browser determines both until the person is
 * known.
 */
import type { MiddlewareHandler } from "hono";
import type { AppContext, AppEnv } from "../http/app.ts";
import { currentRequest } from "../http/current_request.ts";
import { localeOf } from "../words/locale.ts";
import { pageFormat } from "../words/page_format.ts";
import type { Reader } from "../words/reader.ts";
import { once } from "../words/remember.ts";
import { type Catalog, LANGUAGES, type Languages } from "../words/page_words.ts";
import type { Language } from "../words/words.ts";

/** The total for all database calls of a page. */
const DATABASE_MS = 10_000;

/** Sets `c.get("reader")` for every page of an app. @param languages the catalogs; a test may pass its own. */
export const readers = (languages: Languages = LANGUAGES): MiddlewareHandler<AppEnv> => async (c, next) => {
  const accepted = c.req.header("accept-language") ?? "";
  c.set("reader", readerOf(languages[languageIn(accepted, languages)], regionIn(accepted)));
  const request = currentRequest();
  if (request) request.databaseMs = DATABASE_MS;
  await next();
};

/** The same reader, with the person's country. @param country ISO 3166-1 alpha-2. */
export const livingIn = (c: AppContext, country: string): Reader => readerOf(c.get("reader").catalog, country);

function readerOf(catalog: Catalog, country: string | undefined): Reader {
  // Loads on demand, because `Intl` takes 10 ms for a locale, and most first pages have no dates and amounts.
  const format = once(() => formatFor(catalog.language, country));
  return {
    language: catalog.language,
    words: catalog.pages,
    catalog,
    get format() {
      return format();
    },
  };
}

/** @param language of the words, possibly regional (`pt-BR`); the reader may live in another country. */
const formatFor = (language: string, country: string | undefined) =>
  pageFormat(localeOf({ language: new Intl.Locale(language).language, ...(country && { country }) }));

/** The first of the browser's languages that has a catalog, otherwise English. */
function languageIn(accepted: string, languages: Languages): Language {
  const wanted = accepted.split(",").map((entry) => entry.trim().split(/[-;]/)[0]!.toLowerCase());
  return (wanted.find((language) => Object.hasOwn(languages, language)) ?? "en") as Language;
}

/** The first English region in the header: `en-US` in `de-AT,en-US;q=0.9`. */
const regionIn = (accepted: string): string | undefined =>
  /(?:^|[\s,])en-(?:[A-Za-z]{4}-)?([A-Za-z]{2})\b/i.exec(accepted)?.[1]?.toUpperCase();
