/**
 * Parses amounts as people and banks write them into plain decimal strings. It is exact, because it only moves
 * characters.
 */

export type DecimalSign = "." | ",";

/** A number without its sign and currency: digits, points, commas. */
export interface MoneyText {
  digits: string;
  isNegative: boolean;
  /** A code or a sign; ambiguous signs ($, ¥, kr, Rs) remain as they are. */
  currency?: string;
  /** A word, "DR" or "CR", states its direction. */
  isMarked?: true;
  /** A plus that marks the direction opposite to the unmarked amounts. */
  hasPlus?: true;
}

/** Signs of a single currency, in lower case. */
const SIGNS: Record<string, string> = {
  "€": "EUR",
  "£": "GBP",
  "₹": "INR",
  "us$": "USD",
  "ca$": "CAD",
  "c$": "CAD",
  "a$": "AUD",
  "au$": "AUD",
  "nz$": "NZD",
  "s$": "SGD",
  "hk$": "HKD",
  "r$": "BRL",
  "mx$": "MXN",
  "nt$": "TWD",
  "₩": "KRW",
  "₽": "RUB",
  "₺": "TRY",
  "₴": "UAH",
  "₪": "ILS",
  "฿": "THB",
  "₫": "VND",
  "₱": "PHP",
  "₦": "NGN",
  "zł": "PLN",
  "kč": "CZK",
  "ft": "HUF",
  "fr": "CHF",
  "sfr": "CHF",
  "fr.": "CHF",
  "лв": "BGN",
  "lei": "RON",
  "元": "CNY",
  "人民币": "CNY",
  "美元": "USD",
  "港币": "HKD",
  "日元": "JPY",
  "欧元": "EUR",
  // The code of the rouble before 1998, which Russian banks still write.
  "rur": "RUB",
  "円": "JPY",
  "đ": "VND",
  "rp": "IDR",
  "din": "RSD",
  "дин": "RSD",
  "руб": "RUB",
  "грн": "UAH",
  "원": "KRW",
  "tl": "TRY",
  "rm": "MYR",
  "r": "ZAR",
  "s/": "PEN",
  "ksh": "KES",
  "₸": "KZT",
  "₾": "GEL",
  "₼": "AZN",
  "₡": "CRC",
  "₲": "PYG",
  "dhs": "AED",
  "qr": "QAR",
  "ден": "MKD",
  "km": "BAM",
  "¥": "¥",
  "￥": "¥",
  "$": "$",
  "kr": "kr",
  "kr.": "kr",
  "rs": "Rs",
  "rs.": "Rs",
};

/** The currency of a cell, by code or sign, or undefined. */
export function readCurrency(text: string): string | undefined {
  const plain = text.trim();
  return SIGNS[plain.toLowerCase()] ?? (/^[a-z]{3}$/i.test(plain) ? plain.toUpperCase() : undefined);
}

const CODES = new Set(Intl.supportedValuesOf("currency"));

/** Whether a cell is the sign or code of a currency in use, not just three letters. */
export function isKnownCurrency(text: string): boolean {
  const currency = readCurrency(text);
  return currency !== undefined && (text.trim().toLowerCase() in SIGNS || CODES.has(currency));
}

/** Whether a code names the currency, rather than a sign that several currencies share. */
export const isCode = (currency: string): boolean => CODES.has(currency);

/** Fits a currency, signs and spaces. Longer text isn't an amount and would make the patterns slow. */
const MAX_LENGTH = 40;

/** Arabic and Persian digits and signs as Latin ones. */
export const latinDigits = (text: string): string =>
  /[٠-٩۰-۹]/.test(text)
    ? text.replace(/[٠-٩۰-۹]/g, (digit) => String(digit.charCodeAt(0) & 15)).replaceAll("٫", ".").replaceAll("٬", ",")
    : text;

/** "131.77(已退款89.84)": a note after an amount. */
const NOTE = /(?<=\d) ?[(（](?=[^)）]*\p{L})[^()（）]{4,}[)）]$/u;

/** @returns undefined when the text is not an amount. */
export function readMoney(cell: string): MoneyText | undefined {
  if (cell.length > MAX_LENGTH) return undefined;
  if (/^-?\d+([.,]\d+)?$/.test(cell)) {
    const isNegative = cell.startsWith("-");
    return { digits: isNegative ? cell.slice(1) : cell, isNegative };
  }
  let text = latinDigits(cell.replace(NOTE, "")).normalize("NFKC").replace(/[\s'’`´]/g, "").replace(/[−–—‐‑﹣]/g, "-");
  // Normalization can turn one character into eighteen.
  if (text.length > MAX_LENGTH) return undefined;
  let isNegative = false;
  if (/^\(.*\)$/.test(text)) {
    isNegative = true;
    text = text.slice(1, -1);
  }
  const parts = /^([+-]?)([^\d.,+-]*)([+-]?)([.,]*\d(?:[.,]*\d)*[.,]*?)([.,]-{1,2})?([+-]?)([^\d.,+-]*\.?)([+-]?)$/
    .exec(text);
  if (!parts) return undefined;
  const [, sign1, before, sign2, digits, , sign3, after, sign4] = parts;
  if ([sign1, sign2, sign3, sign4].filter(Boolean).length > 1) return undefined;
  isNegative ||= [sign1, sign2, sign3, sign4].includes("-");
  // "DR" and "CR" of bank statements: money out, money in.
  const marker = /^(dr|cr|s|h|d|c)\.?$/i.exec(after!)?.[1]?.toLowerCase();
  if (marker && /[ds]/.test(marker)) isNegative = true;
  const words = [before, marker ? "" : after].filter(Boolean) as string[];
  const currency = words[0] && readCurrency(words[0]);
  if (words.length > 1 || (words.length === 1 && !currency)) return undefined;
  const hasPlus = [sign1, sign2, sign3, sign4].includes("+");
  return {
    digits: digits!,
    isNegative,
    ...(currency && { currency }),
    ...(marker && { isMarked: true as const }),
    ...(hasPlus && { hasPlus: true as const }),
  };
}

/**
 * The decimal sign that one number proves; undefined if it has no sign, or a single one before exactly three digits.
 */
export function decimalSignOf(digits: string): DecimalSign | undefined {
  const signs = [...digits].filter((letter): letter is DecimalSign => letter === "." || letter === ",");
  const last = signs.at(-1);
  if (!last) return undefined;
  const other = last === "." ? "," : ".";
  if (signs.includes(other)) return signs.filter((sign) => sign === last).length === 1 ? last : undefined;
  if (signs.length > 1) return other;
  const [whole, fraction] = digits.split(last) as [string, string];
  return fraction.length !== 3 || whole === "" || whole === "0" ? last : undefined;
}

/** Accepts thousands in groups of three or two (lakh); the database checks the number of decimals. */
export function toDecimal(digits: string, decimal: DecimalSign): string | undefined {
  const thousands = decimal === "." ? "," : ".";
  const sign = digits.indexOf(decimal);
  const whole = sign < 0 ? digits : digits.slice(0, sign);
  const fraction = sign < 0 ? "" : digits.slice(sign + 1);
  if (fraction.includes(decimal) || fraction.includes(thousands)) return undefined;
  if (whole.includes(thousands)) {
    const groups = whole.split(thousands);
    const isGrouped = /^\d{1,3}$/.test(groups[0]!) && groups.at(-1)!.length === 3 &&
      groups.slice(1, -1).every(({ length }) => length === 2 || length === 3);
    if (!isGrouped) return undefined;
  }
  const plain = (whole.includes(thousands) ? whole.replaceAll(thousands, "") : whole).replace(/^0+(?=\d)/, "") ||
    "0";
  // Drop trailing zeros: a currency without decimals would reject them.
  const kept = fraction.endsWith("0") ? fraction.replace(/0+$/, "") : fraction;
  return /^\d{1,12}$/.test(plain) ? plain + (kept ? `.${kept}` : "") : undefined;
}

/** Reads a fee as a plain decimal; undefined for zero. */
export function toFee(fee = "", decimal: DecimalSign): string | undefined {
  const money = /[1-9]/.test(fee) ? readMoney(fee) : undefined;
  return money && toDecimal(money.digits, decimal);
}

/** Currencies that share a sign. Other parts of the file determine the right one. */
const SHARED: Record<string, RegExp> = {
  "$": /^(USD|CAD|AUD|NZD|SGD|HKD|TWD|MXN|ARS|CLP|COP)$/,
  "¥": /^(JPY|CNY)$/,
  "kr": /^(SEK|NOK|DKK|ISK)$/,
  "Rs": /^(INR|PKR|LKR|NPR|MUR)$/,
};

/** The currency of a sign, or the file's usual currency if the sign may stand for it. */
export const currencyOfSign = (sign: string | undefined, common: string | undefined): string | undefined =>
  common !== undefined && (!sign || SHARED[sign]?.test(common)) ? common : sign;
