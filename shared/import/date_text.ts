/**
 * Parses dates as people and banks write them into YYYY-MM-DD. Checks only that the day exists; the database decides
 * whether it may be logged.
 */

import { latinDigits } from "./money_text.ts";

export type DateOrder = "YMD" | "DMY" | "MDY";

/** The three numbers in written order, and the order if the text itself shows it. */
export interface DateText {
  parts: [number, number, number];
  order?: DateOrder;
  /** The order is unambiguous: the year comes first, or the month is a word. */
  isCertain?: true;
}

/**
 * Month prefixes without accents, in the languages of column_words.ts. The longer of two prefixes with a common start
 * comes first.
 */
const MONTHS: [RegExp, number][] = [
  [/^(marras)/, 11],
  [/^(cervenec|cervenc)/, 7],
  [/^(jan|gen|ene|janv|sty|ian|jaan|oca|tam|led|янв|січ|яну|ιαν)/, 1],
  [/^(feb|fev|febr|lut|sub|hel|uno|veebr|фев|лют|φεβ)/, 2],
  [/^(mar|mrz|maar|mrt|maerz|mars|marz|maalis|bre|мар|бер|μαρ)/, 3],
  [/^(apr|avr|abr|kwi|nis|huh|dub|апр|кві|απρ)/, 4],
  [/^(mai|may|mag|mei|maj|tou|kve|май|мая|тра|μαι)/, 5],
  [/^(jun|juin|giu|cze|iun|juuni|haz|kes|cer|июн|юни|чер|ιουν)/, 6],
  [/^(jul|juil|lug|lip|iul|juuli|tem|hei|июл|юли|лип|ιουλ)/, 7],
  [/^(aug|aou|ago|sie|agu|elo|srp|авг|сер|αυγ)/, 8],
  [/^(sep|set|wrz|szept|eyl|syy|zar|сен|сеп|вер|σεπ)/, 9],
  [/^(oct|okt|ott|out|paz|eki|lok|rij|окт|жов|οκτ)/, 10],
  [/^(nov|lis|noi|kas|ноя|ное|лис|νοε)/, 11],
  [/^(dec|dez|dic|gru|des|dets|ara|jou|pro|дек|гру|δεκ)/, 12],
];

const monthOf = (word: string): number | undefined => {
  const plain = word.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  return MONTHS.find(([start]) => start.test(plain))?.[1];
};

/** Fits a weekday, a time and its zone. Longer text isn't a date and would make the patterns slow. */
const MAX_LENGTH = 60;

/** @returns undefined when the text is not a date. A time after the date is ignored. */
export function readDate(cell: string): DateText | undefined {
  if (cell.length > MAX_LENGTH) return undefined;
  // Spreadsheets put an apostrophe before a value to keep it as text.
  const text = latinDigits(cell.trim()).replace(/^'(?=\d)/, "")
    .replace(/^\p{L}{2,10}[.,]{1,2}\s+(?=\d)/u, "")
    .replace(/(?<=\d)(?:[T\s,]+\d{1,2}[:.h]|-\d{1,2}:)\d{2}.*$/i, "");
  const iso = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\.?$/.exec(text) ?? /^(\d{4})(\d{2})(\d{2})$/.exec(text) ??
    /^(\d{4}) ?[年년] ?(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일]?$/.exec(text);
  if (iso) return { parts: [Number(iso[1]), Number(iso[2]), Number(iso[3])], order: "YMD", isCertain: true };

  const plain = /^(\d{1,2})([-/. ])(\d{1,2})\2(\d{4}|\d{2})\.?$/.exec(text);
  if (plain) {
    const [first, second] = [Number(plain[1]), Number(plain[3])];
    // Dates with points put the day first.
    const order = plain[2] === "." || first > 12 ? "DMY" : second > 12 ? "MDY" : undefined;
    return { parts: [first, second, yearOf(plain[4]!)], ...(order && { order }) };
  }
  const dayFirst = /^(\d{1,2})(?:st|nd|rd|th|\.|º)?[-/. ]*(?:de )?(\p{L}{3,})\.?[-/., ]*(?:de |')?(\d{4}|\d{2})$/iu
    .exec(
      text,
    );
  const monthFirst = /^(\p{L}{3,})\.?[-/ ]*(\d{1,2})(?:st|nd|rd|th)?[-/, ]+(\d{4}|\d{2})$/iu.exec(text);
  const [day, word, year] = dayFirst?.slice(1) ?? [monthFirst?.[2], monthFirst?.[1], monthFirst?.[3]];
  const month = word && monthOf(word);
  return month ? { parts: [Number(day), month, yearOf(year!)], order: "DMY", isCertain: true } : undefined;
}

/** @param order derived from the file's other dates @returns undefined when the day does not exist */
export function toIsoDate({ parts: [a, b, c], order: own, isCertain }: DateText, order: DateOrder): string | undefined {
  const known = isCertain ? own : order;
  const [year, month, day] = known === "YMD" ? [a, b, c] : known === "MDY" ? [c, a, b] : [c, b, a];
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  return [String(year).padStart(4, "0"), pad(month), pad(day)].join("-");
}

/** A day without a year, "1 Nov" or "November 1st", as --MM-DD (ISO 8601); undefined for any other text. */
export function readYearlessDay(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const dayFirst = /^(\d{1,2})(?:st|nd|rd|th|\.|º)?[- ]*(?:(?:of|de) )?(\p{L}{3,})\.?$/iu.exec(text.trim());
  const monthFirst = /^(\p{L}{3,})\.? +(\d{1,2})(?:st|nd|rd|th)?$/iu.exec(text.trim());
  const [day, word] = dayFirst?.slice(1) ?? [monthFirst?.[2], monthFirst?.[1]];
  const month = word && monthOf(word);
  // 2000 is a leap year.
  return month && Number(day) >= 1 && Number(day) <= daysIn(2000, month)
    ? `--${pad(month)}-${pad(Number(day))}`
    : undefined;
}

/** "October" as --10, "October 2026" as 2026-10; undefined for any other text. */
export function readMonth(text: string): string | undefined {
  const [, word, year] = /^(\p{L}{3,12})\.?(?: (?:de )?(\d{4}))?$/u.exec(text.trim()) ?? [];
  const month = word && monthOf(word);
  return month ? `${year ?? "-"}-${pad(month)}` : undefined;
}

const daysIn = (year: number, month: number) => new Date(Date.UTC(year, month, 0)).getUTCDate();
const pad = (value: number) => String(value).padStart(2, "0");
/** No statement dates from before 1970 or after 2069. */
const yearOf = (text: string) => text.length === 2 ? (Number(text) < 70 ? 2000 : 1900) + Number(text) : Number(text);

/** The formats that a caller may name. */
export const DATE_ORDERS: Record<"YYYY-MM-DD" | "DD/MM/YYYY" | "MM/DD/YYYY" | "DD.MM.YYYY", DateOrder> = {
  "YYYY-MM-DD": "YMD",
  "DD/MM/YYYY": "DMY",
  "DD.MM.YYYY": "DMY",
  "MM/DD/YYYY": "MDY",
};
