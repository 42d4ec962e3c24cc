/**
 * Determines how a file writes dates, amounts and spending. A row, a future date, the balance or the format can prove a
 * convention. An unproven one becomes a question, which the `mapping` argument of the same name answers.
 */
import { type DateOrder, type DateText, toIsoDate } from "./date_text.ts";
import { provenSign, type SignedRow } from "./balance_proof.ts";
import { oneLine, shorten } from "./shorten.ts";
import { type DecimalSign, decimalSignOf, isCode, type MoneyText } from "./money_text.ts";
import { decimalsOf } from "./units.ts";

/** An open question, as facts; `answer_<id>` in the catalog asks it. */
export interface Question {
  id: "date_format" | "decimal" | "negative_is_expense";
  about: Record<string, unknown>;
  options: (string | boolean)[];
  default?: string | boolean;
}

export interface Convention<Value> {
  value: Value;
  question?: Question;
}

const FORMATS = { DMY: "DD/MM/YYYY", MDY: "MM/DD/YYYY" };

/** @param told conventions of the format @param latest the last day that a row may have, YYYY-MM-DD */
export function findDateOrder(
  dates: DateText[],
  { told, latest }: { told?: DateOrder | undefined; latest?: string | undefined },
): Convention<DateOrder> {
  const open = dates.filter(({ isCertain }) => !isCertain);
  if (open.length === 0) return { value: dates[0]?.order ?? "YMD" };
  const shows = (order: DateOrder) => open.some((date) => date.order === order);
  const isMixed = shows("DMY") && shows("MDY");
  if (shows("DMY") !== shows("MDY")) return { value: shows("DMY") ? "DMY" : "MDY" };
  if (told && !isMixed) return { value: told };
  const days = (order: DateOrder) => open.map((date) => toIsoDate(date, order) ?? "");
  const [dayFirst, monthFirst] = [days("DMY"), days("MDY")];
  const differing = dayFirst.findIndex((day, i) => day !== monthFirst[i]);
  if (differing < 0) return { value: "DMY" };
  const isFuture = (all: string[]) => latest !== undefined && all.some((day) => day > latest);
  if (!isMixed && isFuture(dayFirst) !== isFuture(monthFirst)) return { value: isFuture(dayFirst) ? "MDY" : "DMY" };
  const sorted = (["DMY", "MDY"] as const).filter((order) =>
    !isMixed && isSorted(order === "DMY" ? dayFirst : monthFirst)
  );
  const value = sorted.length === 1 && open.length > 2 ? sorted[0]! : "DMY";
  return {
    value,
    question: {
      id: "date_format",
      about: { day_first: dayFirst[differing], month_first: monthFirst[differing], ...(isMixed && { is_mixed: true }) },
      options: [FORMATS.DMY, FORMATS.MDY],
      ...(sorted.length === 1 && open.length > 2 && { default: FORMATS[value] }),
    },
  };
}

const isSorted = (days: string[]) =>
  days.every((day, i) => i === 0 || days[i - 1]! <= day) || days.every((day, i) => i === 0 || days[i - 1]! >= day);

/** The decimal sign that an amount or the format proves; a single sign before three digits proves none. */
export function findDecimalSign(amounts: MoneyText[], told?: DecimalSign): Convention<DecimalSign> {
  const shown = new Set(amounts.flatMap(({ digits }) => decimalSignOf(digits) ?? []));
  if (shown.size === 1) return { value: [...shown][0]! };
  if (told) return { value: told };
  const doubtful = amounts.find(({ digits }) => /[.,]/.test(digits));
  if (!doubtful) return { value: "." };
  const value = doubtful.digits.includes(",") === (shown.size === 0) ? "." : ",";
  return {
    value,
    question: {
      id: "decimal",
      about: { digits: doubtful.digits, ...(shown.size > 1 && { is_mixed: true }) },
      options: [".", ","],
      ...(shown.size === 0 && { default: value }),
    },
  };
}

/** Currencies whose decimals are no longer in use. */
const WHOLE: ReadonlySet<string> = new Set(["HUF", "IDR", "COP", "IRR", "LBP", "MMK", "LAK"]);

/**
 * A single sign before three digits separates thousands in a currency without decimals, and decimals in one with three.
 */
export function decimalOfCurrencies(
  booked: { currency?: string | undefined; money?: MoneyText | undefined }[],
  home = "",
): DecimalSign | undefined {
  const currencies = new Set(booked.map(({ currency = home }) => currency));
  const exponents = new Set(
    [...currencies].map((currency) => WHOLE.has(currency) ? 0 : isCode(currency) ? decimalsOf(currency) : 2),
  );
  const sign = booked.flatMap(({ money }) => /[.,]/.exec(money?.digits ?? "")?.[0] ?? [])[0];
  const [exponent] = exponents;
  if (exponents.size !== 1 || !sign || (exponent !== 0 && exponent !== 3)) return undefined;
  return (sign === ",") === (exponent === 3) ? "," : ".";
}

export interface SignedLine extends SignedRow {
  line: number;
  money: MoneyText;
  name: string;
  /** The text names a salary or similar, so the sign means income. */
  namesIncome: boolean;
  /** The text confirms a received payment, so the sign means credits. */
  isReceived: boolean;
}

export interface SignHints {
  told?: "negative" | "positive" | undefined;
  /** A card's balance is a debt, so it proves nothing about its sign. */
  isCard?: boolean | undefined;
  isCreditCard?: boolean | undefined;
  isStatement?: boolean | undefined;
  isAccount?: boolean | undefined;
}

/**
 * Whether spending is negative. A list with one sign contains expenses, unless some evidence shows that it is an
 * account's statement. Two signs lead to a question.
 */
export function findSign(
  lines: SignedLine[],
  { told, isCard, isCreditCard, isStatement, isAccount }: SignHints,
): Convention<boolean> {
  const proven = isCard ? undefined : provenSign(lines);
  if (told && (proven === undefined || proven === told)) return { value: told === "negative" };
  if (!told && proven) return { value: proven === "negative" };
  if (!told && lines.some(({ money }) => money.isMarked)) return { value: true };
  const negatives = lines.filter(({ money }) => money.isNegative);
  const received = lines.filter(({ isReceived }) => isReceived);
  if (!told && received.length > 0) {
    // A single sign may mark a reversal, or only the list's refunds.
    const isMinus = received[0]!.money.isNegative;
    const isMost = isMinus ? negatives.length * 2 <= lines.length : negatives.length * 2 >= lines.length;
    if (isMost && received.every(({ money }) => money.isNegative === isMinus)) return { value: !isMinus };
  }
  // A file that writes every plus sign uses it for income.
  const isSigned = lines.every(({ money }) => money.isNegative || money.hasPlus);
  if (!told && isSigned && lines.some(({ money }) => money.isNegative) && lines.some(({ money }) => money.hasPlus)) {
    return { value: true };
  }
  const negative = lines.find(({ money }) => money.isNegative);
  const positive = lines.find(({ money }) => !money.isNegative);
  if (!told && isAccount && negative) return { value: true };
  // A credit card's list has many charges and few credits.
  const isRare = negatives.length > 0 && negatives.length * 3 < lines.length;
  if (!told && isCreditCard && isRare && !lines.some(({ namesIncome }) => namesIncome)) return { value: false };
  const isList = !(negative && positive) && !isStatement && !lines.some(({ namesIncome }) => namesIncome);
  if (!told && isList) return { value: negative !== undefined };
  const sample = negative ?? positive;
  if (!sample) return { value: told !== "positive" };
  const value = told ? told === "negative" : negative !== undefined;
  const { line, name, money } = sample;
  return {
    value,
    question: {
      id: "negative_is_expense",
      about: { line, name: shorten(oneLine(name), 40), amount: (money.isNegative ? "-" : "") + money.digits },
      options: [true, false],
      // If a balance contradicts a known export, the sign is unproven.
      ...(isStatement && !told && { default: true }),
    },
  };
}
