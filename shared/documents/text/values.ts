/** Days and amounts within text. */
import { type DateOrder, readDate, toIsoDate } from "../../import/date_text.ts";
import { decimalsOf } from "../../import/units.ts";
import { isKnownCurrency, readCurrency } from "../../import/money_text.ts";

/** Replaces each character by one, in lower case and without an accent, so that positions remain the same. */
export const plainText = (text: string): string =>
  /^[ -~]*$/.test(text)
    ? text.toLowerCase()
    : Array.from(text, (letter) => letter.normalize("NFD")[0]!.toLowerCase().slice(0, 1).padEnd(letter.length)).join(
      "",
    );

const DAY =
  /^(?:\d{4}-\d{2}-\d{2}|\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})|\d{1,2}(?:st|nd|rd|th|er|\.)? ?(?:de )?\p{L}{3,12}\.?,? (?:de |del )?\d{4}|\p{L}{3,12}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4})(?![\d./-]*\d)/iu;

export interface FoundDay {
  /** Numbers as written, and whether their order is certain. */
  day: NonNullable<ReturnType<typeof readDate>>;
}

/** The date at the beginning of a text. */
export function dayAt(text: string): FoundDay | undefined {
  const found = DAY.exec(text.slice(0, 40))?.[0];
  const day = found && readDate(found.replace(/(\d)er /, "$1 ").replace(/ del /, " de "));
  return day ? { day } : undefined;
}

export const isoOf = ({ day }: FoundDay, order: DateOrder | undefined): string | undefined => {
  const [first, second] = day.parts;
  const own = day.isCertain ? "YMD" : day.order ?? order ?? (first === second ? "DMY" : undefined);
  return own && toIsoDate(day, own);
};

export interface Amount {
  /** In the smallest unit, 119.00 as 11900; null when the number is ambiguous. */
  minor: bigint | null;
  decimals: number;
  currency?: string;
  at: number;
  end: number;
}

const CURRENCY = String.raw`(?:US\$|CA\$|A\$|[€£$]|[A-Z]{3}|Fr\.|kr\.?)`;
const AMOUNT = new RegExp(
  String
    .raw`(?<![\d.,'’\p{L}\ufffd/-])(?:(${CURRENCY})[ \u00a0]?)?([-−–])?[ ]?(\d{1,3}(?:\.\d{3}){1,3}|\d{1,3}(?:,\d{3}){1,3}|` +
    String
      .raw`\d{1,3}(?:['’]\d{3}){1,3}|\d{1,3}(?:[ \u00a0\u202f]\d{3}){1,3}|\d{1,9})(?:([.,])(\d{2}|-{1,2}))?(?![\d\ufffd/]|[.,'’:]\d|-\d| ?%)` +
    String.raw`(?:[ \u00a0]?(${CURRENCY})(?!\p{L}))?`,
  "gu",
);

/**
 * The amounts in a text: numbers with two decimals, and in currencies without decimals only those beside a currency.
 */
export function amountsIn(text: string): Amount[] {
  const found: Amount[] = [];
  for (const match of text.matchAll(AMOUNT)) {
    const [all, before, minus, whole, point, cents, after] = match;
    const sign = [before, after].find((one) => one && isKnownCurrency(one));
    const currency = sign && readCurrency(sign);
    const decimals = currency?.length === 3 ? decimalsOf(currency) : 2;
    if (point === undefined && decimals !== 0) continue;
    const group = /[.,]/.exec(whole!)?.[0];
    // "1.119.00" isn't an amount, and a space may separate a quantity from an amount.
    const isUnclear = minus !== undefined || group === point && group !== undefined || / /.test(whole!) ||
      decimals === 0 && point !== undefined;
    const digits = whole!.replace(/\D/g, "") + (decimals === 0 ? "" : (cents ?? "").replace(/-+/, "00"));
    found.push({
      minor: isUnclear ? null : BigInt(digits),
      decimals,
      ...(currency && { currency }),
      at: match.index,
      end: match.index + all.length,
    });
  }
  return found;
}

/** The decimal form in facts: 119.00. */
export function amountText(minor: bigint, decimals: number): string {
  const digits = String(minor).padStart(decimals + 1, "0");
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
