/** Countries and the currency that each suggests. Any combination is valid. */
import countryToCurrency from "country-to-currency";
import type { PageFormat } from "../../../shared/words/page_format.ts";
import type { Reader } from "../../../shared/words/reader.ts";

export interface Country {
  /** ISO 3166-1 alpha-2. */
  code: string;
  /** ISO 4217. */
  currency: string;
}

// The package also has a withdrawn and a user-assigned code; leave both out.
const NOT_ISO_3166_1 = ["AN", "XK"];

/** All countries of ISO 3166-1. */
export const COUNTRIES: readonly Country[] = Object.entries(countryToCurrency)
  .filter(([code]) => !NOT_ISO_3166_1.includes(code))
  .map(([code, currency]) => ({ code, currency }));

/** All countries with their names in the reader's language, sorted. */
export const countriesByName = ({ country, compare }: PageFormat): (Country & { name: string })[] =>
  COUNTRIES.map((one) => ({ ...one, name: country(one.code) })).sort((a, b) => compare(a.name, b.name));

export const isCountry = (code: string): boolean => COUNTRIES.some((country) => country.code === code);

/** The country in a browser's languages (`de-AT,de;q=0.9`), or undefined. */
export function countryOfLanguages(acceptLanguage: string | undefined): string | undefined {
  const regions = (acceptLanguage ?? "").split(",").map((entry) =>
    /^\s*[A-Za-z]{2,3}(?:-[A-Za-z]{4})?-([A-Za-z]{2})\b/.exec(entry)?.[1]
  );
  return regions.map((region) => region?.toUpperCase()).find((region) => region !== undefined && isCountry(region));
}

/** Options of a currency select: "EUR – Euro". */
export const currencyOptions = (codes: readonly string[], { words, format }: Reader) =>
  codes.map((code) => ({ value: code, label: `${code} – ${words.currencies[code] ?? format.currency(code)}` }));

export const currencyOfCountry = (code: string | undefined): string | undefined =>
  COUNTRIES.find((country) => country.code === code)?.currency;
