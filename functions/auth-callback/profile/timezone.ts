/** Time zones by IANA name: the available ones, and the one that a country suggests. */
import { once } from "../../../shared/words/remember.ts";
import { COUNTRIES, isCountry } from "./country.ts";

/**
 * Zones that CLDR, and therefore every browser, lists under their older name (IANA `backward`). The service shows and
 * stores the newer name; the database and the runtimes know both.
 */
export const RENAMED_TIMEZONES: Readonly<Record<string, string>> = {
  "America/Buenos_Aires": "America/Argentina/Buenos_Aires",
  "America/Godthab": "America/Nuuk",
  "Asia/Calcutta": "Asia/Kolkata",
  "Asia/Katmandu": "Asia/Kathmandu",
  "Asia/Rangoon": "Asia/Yangon",
  "Asia/Saigon": "Asia/Ho_Chi_Minh",
  "Atlantic/Faeroe": "Atlantic/Faroe",
  "Europe/Kiev": "Europe/Kyiv",
};
const renamed = (name: string) => RENAMED_TIMEZONES[name] ?? name;

// The most populous zone of countries with several; CLDR lists them alphabetically.
const MOST_POPULOUS_ZONE: Readonly<Record<string, string>> = {
  AR: "America/Argentina/Buenos_Aires",
  AU: "Australia/Sydney",
  BR: "America/Sao_Paulo",
  CA: "America/Toronto",
  CD: "Africa/Kinshasa",
  CL: "America/Santiago",
  CY: "Asia/Nicosia",
  EC: "America/Guayaquil",
  ES: "Europe/Madrid",
  GL: "America/Nuuk",
  ID: "Asia/Jakarta",
  KZ: "Asia/Almaty",
  MN: "Asia/Ulaanbaatar",
  MX: "America/Mexico_City",
  MY: "Asia/Kuala_Lumpur",
  NZ: "Pacific/Auckland",
  PF: "Pacific/Tahiti",
  PG: "Pacific/Port_Moresby",
  PT: "Europe/Lisbon",
  RU: "Europe/Moscow",
  UA: "Europe/Kyiv",
  US: "America/New_York",
  UZ: "Asia/Tashkent",
};

/** The most populous time zone of a country, or UTC. */
export const timezoneOfCountry = (code: string | undefined): string =>
  code === undefined ? "UTC" : MOST_POPULOUS_ZONE[code] ?? timezonesOfCountry(code)[0] ?? "UTC";

function timezonesOfCountry(code: string): string[] {
  // Intl.Locale throws on invalid codes.
  if (!isCountry(code)) return [];
  const locale = new Intl.Locale(`und-${code}`) as Intl.Locale & { getTimeZones?(): string[] | undefined };
  return locale.getTimeZones?.()?.map(renamed) ?? [];
}

// Cached, because computing all countries takes 0.1 s.
const countries = once(() =>
  new Map(COUNTRIES.flatMap(({ code }) => timezonesOfCountry(code).map((zone) => [zone, code])))
);

/** A time zone's country; undefined for UTC. @param zone a name from `timezones()`. */
export const countryOfTimezone = (zone: string): string | undefined => countries().get(zone);

/** All selectable time zones, including `current` under its own name. */
export function timezones(current: string): string[] {
  return [
    ...new Set(["UTC", ...Intl.supportedValuesOf("timeZone").map(renamed), ...(isTimezone(current) ? [current] : [])]),
  ].sort();
}

/**
 * Whether this is UTC or an IANA name that the runtime knows. Offsets (`+05:30`) and abbreviations (`IST`) are not
 * accepted.
 */
export function isTimezone(name: string): boolean {
  try {
    return /^(UTC|[A-Za-z_]+(\/[A-Za-z0-9_+-]+)+)$/.test(name) &&
      Boolean(new Intl.DateTimeFormat("en", { timeZone: name }));
  } catch {
    return false;
  }
}
