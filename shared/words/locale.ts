/** Determines a person's locale for dates and numbers: their language, with their country's conventions. */
import { byKey } from "./remember.ts";

/** The region of CLDR's "world" locales: the default of a language without a country. */
const WORLD = "001";

/**
 * The BCP 47 tag for `Intl`: "en-US", "en-DE"; "en-001" without a country, or if CLDR does not have the pair.
 * @param person.language of the catalog: "en".
 * @param person.country ISO 3166-1 alpha-2.
 */
export function localeOf({ language, country = WORLD }: { language: string; country?: string }): string {
  const tag = `${language}-${country}`;
  return isKnown(tag) ? tag : `${language}-${WORLD}`;
}

/** An unknown pair would fall back to the bare language, and bare English means American dates. */
const isKnown = byKey((tag) => new Intl.DateTimeFormat(tag).resolvedOptions().locale === tag);
