/** Which dates and numbers a person is used to: their language, as it is written in their country. */

/** The region of CLDR's "world" locales: what a language does where no country says otherwise. */
const WORLD = "001";

/**
 * The BCP 47 tag for `Intl`: "en-US", "en-DE"; "en-001" without a country, or for one without an entry in CLDR.
 * @param person.language as a catalog says it: "en".
 * @param person.country ISO 3166-1 alpha-2.
 */
export function localeOf({ language, country = WORLD }: { language: string; country?: string }): string {
  const tag = `${language}-${country}`;
  // An unknown pair would fall back to the bare language, and bare English means American dates.
  return new Intl.DateTimeFormat(tag).resolvedOptions().locale === tag ? tag : `${language}-${WORLD}`;
}
