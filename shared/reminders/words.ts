/** Dates, amounts and names as the mails say them: English, whatever machine it is rendered on. */

// Written out, since what a platform calls them changes with its version, and a mail must be the same bytes when it is sent again.
const WEEKDAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");
const MONTHS = "January February March April May June July August September October November December".split(" ");
const SHORT = 3;

const weekday = (day: string) => WEEKDAYS[new Date(`${day}T00:00:00Z`).getUTCDay()]!;
const month = (day: string) => MONTHS[Number(day.slice(5, 7)) - 1]!;
const dayAndMonth = (day: string) => `${Number(day.slice(8))} ${month(day)}`;
const dayAndShortMonth = (day: string) => `${Number(day.slice(8))} ${month(day).slice(0, SHORT)}`;

const inYear = (day: string, today: string) => day.slice(0, 4) === today.slice(0, 4) ? "" : ` ${day.slice(0, 4)}`;

/** "Monday 5 October", with the year where it is another one than today's. */
export const longDate = (day: string, today: string): string =>
  `${weekday(day)} ${dayAndMonth(day)}${inYear(day, today)}`;
/** "Monday 5 Oct". */
export const shortDate = (day: string, today: string): string =>
  `${weekday(day)} ${dayAndShortMonth(day)}${inYear(day, today)}`;
/** "Mon 5 Oct". */
export const shortestDate = (day: string, today: string): string =>
  `${weekday(day).slice(0, SHORT)} ${dayAndShortMonth(day)}${inYear(day, today)}`;
/** "5 October". */
export const plainDate = (day: string, today: string): string => `${dayAndMonth(day)}${inYear(day, today)}`;
/** "5 Oct". */
export const plainShortDate = (day: string, today: string): string => `${dayAndShortMonth(day)}${inYear(day, today)}`;

/** "today", "tomorrow", "on Monday", "on 5 October". */
export function onDay(day: string, { today, days }: { today: string; days: number }): string {
  if (days === 0) return "today";
  if (days === 1) return "tomorrow";
  return `on ${days < 7 ? weekday(day) : plainDate(day, today)}`;
}

/** "today", "tomorrow", "in 3 days", "yesterday", "3 days ago". */
export function daysFromNow(days: number): string {
  if (days === 0) return "today";
  if (days === 1) return "tomorrow";
  if (days === -1) return "yesterday";
  return days > 0 ? `in ${days} days` : `${-days} days ago`;
}

/** "Rent", "Rent and Netflix", "Rent, Netflix and Water". */
export function listOf(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join() : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

/** "€1,450.00": the digits of a decimal string, with its currency's sign. */
export function money(amount: string, currency: string): string {
  // As many decimals as it is written with: the currency's own by ISO 4217, which Intl sometimes knows otherwise.
  const decimals = amount.split(".")[1]?.length ?? 0;
  return new Intl.NumberFormat("en", {
    style: "currency",
    currency,
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  }).format(amount as Intl.StringNumericLiteral);
}

/** The exact difference of two amounts of one currency: "1.00", "-0.50". */
export function difference(amount: string, earlier: string): string {
  const decimals = amount.split(".")[1]?.length ?? 0;
  const minor = BigInt(amount.replace(".", "")) - BigInt(earlier.replace(".", ""));
  const digits = (minor < 0n ? -minor : minor).toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  return `${minor < 0n ? "-" : ""}${whole}${decimals > 0 ? "." : ""}${digits.slice(digits.length - decimals)}`;
}

// Line breaks end a header or a line of text; marks that turn the direction of writing reach beyond the name they stand in.
const CONTROLS = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/** A name as one line of at most so many characters. */
export function oneLine(name: string, longest = 120): string {
  const characters = [...name.replace(CONTROLS, " ").replace(/\s+/g, " ").trim()];
  return characters.length <= longest ? characters.join("") : `${characters.slice(0, longest - 1).join("")}…`;
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** A name inside a sentence: one written from right to left is isolated, so that it does not turn the words around it (Unicode UAX #9). */
export function inSentence(name: string, longest: number): string {
  const short = oneLine(name, longest);
  return RIGHT_TO_LEFT.test(short) ? `\u2068${short}\u2069` : short;
}
