/** Determines the dates, amounts, directions and kinds of a file's lines by its conventions, in any format. */
import {
  type Convention,
  decimalOfCurrencies,
  findDateOrder,
  findDecimalSign,
  findSign,
  type Question,
  type SignedLine,
} from "./conventions.ts";
import { plainHeader } from "./header_words.ts";
import { DATE_ORDERS, type DateOrder, type DateText, readDate, toIsoDate } from "./date_text.ts";
import type { Mapping } from "./find_columns.ts";
import { readText, type TextSays } from "./kinds.ts";
import {
  currencyOfSign,
  type DecimalSign,
  type MoneyText,
  readCurrency,
  readMoney,
  toDecimal,
  toFee,
} from "./money_text.ts";
import { readOriginal } from "./original_amount.ts";
import {
  type Conventions,
  type Direction,
  isLeftOut,
  type Kind,
  type RawLine,
  type Statement,
  textOf,
} from "./statement.ts";
import { rises } from "./balance_proof.ts";
import { unitsOf } from "./units.ts";
import { cut, oneLine, shorten } from "./shorten.ts";
import { leaveOutTotals } from "./total_rows.ts";

export interface SettledLine {
  raw: RawLine;
  /** Absent unless the cell is a date or an amount. */
  date?: string | undefined;
  amount?: string | undefined;
  fee?: string | undefined;
  /** The account's balance after the line, in ten-thousandths. */
  balance?: bigint | undefined;
  currency?: string | undefined;
  /** Absent without a word for it or without a readable amount. */
  direction?: Direction | undefined;
  /** The currency of a foreign amount; the other one is the account's charge. */
  original?: { amount: string; currency: string } | undefined;
  kind: Kind;
  /** Money that may have gone to one of the person's own accounts, according to its text. */
  mayBeOwn: boolean;
}

export interface Settled {
  lines: SettledLine[];
  questions: Question[];
  conventions: { date_format: keyof typeof DATE_ORDERS; decimal: "." | ","; negative_is_expense: boolean };
}

const FORMATS = { YMD: "YYYY-MM-DD", DMY: "DD/MM/YYYY", MDY: "MM/DD/YYYY" } as const;
/** Lines that the account never booked. */
const NOT_BOOKED: ReadonlySet<Kind | undefined> = new Set(["pending", "reverted", "declined"]);

/** A line as the reader returns it. */
interface Reading {
  raw: RawLine;
  day: DateText | undefined;
  money: MoneyText | undefined;
  balance: MoneyText | undefined;
  currency: string | undefined;
  says: TextSays;
}

function readLines({ lines, currency: common }: Statement): Reading[] {
  // Cached, because a day has many lines.
  const days = new Map<string, DateText | undefined>();
  const dayOf = (text: string) => {
    if (!days.has(text)) days.set(text, readDate(text));
    return days.get(text);
  };
  return lines.map((raw) => {
    const money = readMoney(raw.amount);
    const named = raw.currency && (readCurrency(raw.currency) ?? cut(raw.currency, 10));
    return {
      raw,
      day: dayOf(raw.date),
      money,
      balance: raw.balance ? readMoney(raw.balance) : undefined,
      currency: named || currencyOfSign(money?.currency, common),
      says: readText(textOf(raw)),
    };
  });
}

/** If only some amounts have a plus or "CR" and none has a minus, the mark means the opposite of no mark. */
function opposePluses(read: Reading[]): Reading[] {
  const all = read.flatMap(({ raw, money }) => money && !raw.direction ? money : []);
  const isCredit = ({ hasPlus, isMarked }: MoneyText) => hasPlus || isMarked;
  const isOpposed = all.some(isCredit) && !all.every(isCredit) && !all.some(({ isNegative }) => isNegative);
  if (!isOpposed) return read;
  return read.map((one) =>
    one.money && isCredit(one.money) ? { ...one, money: { ...one.money, isNegative: true, hasPlus: true } } : one
  );
}

/**
 * @param given.latest the last day that a row may have, YYYY-MM-DD; a date order that passes it is wrong
 * @param given.home the currency of lines without one
 */
export function settleLines(
  statement: Statement,
  mapping: Mapping,
  { latest, home }: { latest?: string | undefined; home?: string | undefined } = {},
): Settled {
  const { conventions: told } = statement;
  const read = opposePluses(readLines(statement));
  const booked = read.filter(({ raw }) => !raw.problem && !NOT_BOOKED.has(raw.kind));
  const order = mapping.date_format
    ? { value: DATE_ORDERS[mapping.date_format] }
    : findDateOrder(booked.flatMap(({ day }) => day ?? []), { told: told.dates, latest });
  const decimal = mapping.decimal
    ? { value: mapping.decimal }
    : findDecimalSign(booked.flatMap(({ money }) => money ?? []), told.decimal ?? decimalOfCurrencies(booked, home));
  // Days of unknown order prove nothing.
  const sure = "question" in order && order.question ? undefined : order.value;
  const unproven = proveDirections(booked, decimal.value, { told, order: sure });
  const isOpposed = read.some(({ money }) => money?.hasPlus && money.isNegative);
  const sign = unproven && mapping.negative_is_expense === undefined
    ? { value: false, question: askSign(unproven) }
    : isOpposed
    ? { value: false }
    : settleSign(booked, decimal.value, { told, mapping, order: sure });
  const kindOf = settleKinds(read, sign.value, told, decimal.value);
  const owners = ownersOf(statement, read, sign.value);
  const isOwner = (name: string | undefined) => name !== undefined && owners.has(personOf(name));
  const isAccount = told.isStatement === true && !told.isCard;
  const lines = read.map((one): SettledLine => {
    const { raw, day, money, balance, currency } = one;
    const direction = directionOf(one, sign.value);
    const kind = kindOf(one, direction);
    const original = raw.original && currency
      ? readOriginal(raw.original, { charged: currency, decimal: decimal.value })
      : undefined;
    return {
      // A request for money names its sender, who is also its payer.
      raw: raw.payer !== undefined && (direction === "in" || (isOwner(raw.payee) && !isOwner(raw.payer)))
        ? { ...raw, payee: raw.payer }
        : raw,
      date: day && toIsoDate(day, order.value),
      amount: money && toDecimal(money.digits, decimal.value),
      fee: NOT_BOOKED.has(kind) ? undefined : toFee(raw.fee, decimal.value),
      balance: balance && unitsOf(balance, decimal.value),
      currency,
      direction,
      original: original ?? undefined,
      kind,
      mayBeOwn: isAccount && direction === "out" &&
        (one.says.namesOwnAccount === true || (isOwner(raw.payee) && isOwner(raw.payer ?? raw.payee))),
    };
  });
  leaveOutTotals(lines, told);
  const isDotted = statement.lines.some(({ date }) => /^\d{1,2}\./.test(date));
  const written = order.value === "DMY" && isDotted ? "DD.MM.YYYY" : FORMATS[order.value];
  return {
    lines,
    questions: [order, decimal, sign].flatMap((one) => "question" in one && one.question ? one.question : []),
    conventions: {
      date_format: mapping.date_format ?? written,
      decimal: decimal.value,
      negative_is_expense: sign.value,
    },
  };
}

/** "MUSTER ERIKA" and "Erika Muster" are the same person. */
const personOf = (name: string) => plainHeader(name).split(" ").toSorted().join(" ");

/** The account's owner: named by the file, the payer of outgoing money, or the name in every row. */
function ownersOf({ owner }: Statement, read: Reading[], negativeIsExpense: boolean): Set<string> {
  const owners = new Set(owner ? [personOf(owner)] : []);
  const sided = read.flatMap(({ raw: { payer, payee } }) => payer && payee ? [[personOf(payer), personOf(payee)]] : []);
  const always = (sided[0] ?? []).filter((name) => sided.every((sides) => sides.includes(name)));
  if (sided.length > 1 && always.length === 1) return owners.add(always[0]!);
  for (const one of read) {
    const { payer } = one.raw;
    if (payer && directionOf(one, negativeIsExpense) === "out") owners.add(personOf(payer));
  }
  return owners;
}

/**
 * For unsigned amounts whose balances change by each of them, the balance shows the direction.
 * @returns the oldest line, before which no balance is known
 */
function proveDirections(
  booked: Reading[],
  decimal: DecimalSign,
  { told, order }: { told: Conventions; order: DateOrder | undefined },
): Reading | undefined {
  const isPlain = ({ raw, money, balance }: Reading) =>
    money && balance && !raw.direction && !money.isNegative && !money.hasPlus && !money.isMarked;
  if (told.isKnown || told.isCard || booked.length < 3 || !booked.every(isPlain)) return undefined;
  for (const lines of [booked, booked.toReversed()]) {
    // In reverse order, each balance is the one before its row.
    if (rises(lines.map(({ day }) => day && order && toIsoDate(day, order) || "").toReversed())) continue;
    const moves = lines.slice(1).map(({ balance, money }, i) => {
      const [before, after] = [unitsOf(lines[i]!.balance!, decimal), unitsOf(balance!, decimal)];
      const amount = unitsOf(money!, decimal);
      if (before === undefined || after === undefined || amount === undefined) return undefined;
      return after - before === -amount ? "out" : after - before === amount ? "in" : undefined;
    });
    // A single side counts like a sign.
    if (!moves.includes("out") || !moves.includes("in") || moves.includes(undefined)) continue;
    lines.slice(1).forEach(({ raw }, i) => raw.direction = moves[i]!);
    return lines[0]!;
  }
  return undefined;
}

const askSign = ({ raw: { line, name, payee = "" }, money }: Reading): Question => ({
  id: "negative_is_expense",
  about: { line, name: shorten(oneLine(name || payee), 40), amount: money!.digits },
  options: [true, false],
});

/** Whether spending is negative. If any line states its direction, signs prove nothing. */
function settleSign(
  booked: Reading[],
  decimal: DecimalSign,
  { told, mapping, order }: { told: Conventions; mapping: Mapping; order: DateOrder | undefined },
): Convention<boolean> {
  if (mapping.negative_is_expense !== undefined) return { value: mapping.negative_is_expense };
  const unsided = booked.some(({ raw }) => raw.direction)
    ? []
    : booked.flatMap((one): SignedLine[] =>
      !one.money || !/[1-9]/.test(one.money.digits) ? [] : [{
        line: one.raw.line,
        name: one.raw.name || one.raw.payee || "",
        money: one.money,
        amount: unitsOf(one.money, decimal),
        balance: one.balance && unitsOf(one.balance, decimal),
        day: one.day && order && toIsoDate(one.day, order),
        account: `${one.currency ?? ""} ${one.raw.account ?? ""}`,
        namesIncome: one.says.isIncome,
        isReceived: one.says.isReceived === true || (told.isCreditCard === true && one.says.isPayment === true),
      }]
    );
  return unsided.length === 0
    ? { value: told.spends !== "positive" }
    : findSign(unsided, { ...told, told: told.spends });
}

const directionOf = ({ raw, money }: Reading, negativeIsExpense: boolean): Direction | undefined =>
  raw.direction ?? (money && (money.isNegative === negativeIsExpense ? "out" : "in"));

/** On a list of charges, a "payment" pays the card unless it is a refund. */
const isCardPayment = (says: TextSays) => says.isPayment || (says.namesPayment && says.in !== "refund");

/** The kind of each line, judged with all lines of the file. */
function settleKinds(read: Reading[], negativeIsExpense: boolean, told: Conventions, decimal: DecimalSign) {
  const isList = told.isKnown && !told.isStatement;
  const isCardLine = ({ isCard = told.isCard }: RawLine) => isCard;
  const isUnsigned = !told.isKnown && !read.some(({ raw, money }) => raw.direction || money?.isNegative);
  /** The kind that the file states, in a column or in words. */
  const said = ({ raw, says }: Reading, direction: Direction | undefined): Kind | undefined => {
    if (raw.kind || isList) return raw.kind;
    // On a list without signs, the card's payment appears among the charges.
    if (isUnsigned && says.isPayment) return "card_payment";
    if (!told.isKnown && !negativeIsExpense && direction === "in" && isCardPayment(says)) return "card_payment";
    const kind = says[direction ?? "none"];
    // In any account except a card's, an incoming "mobile payment" is ordinary income.
    return kind === "card_payment" && direction === "in" && told.isKnown && !isCardLine(raw) ? undefined : kind;
  };
  const spent = read.filter((one) => directionOf(one, negativeIsExpense) === "out" && !isLeftOut(said(one, "out")));
  const spentOn = new Set(told.hasSpendingCategories ? spent.flatMap(({ raw }) => raw.category ?? []) : []);
  const sumWith = (payee: string | undefined, { money, currency }: Reading) =>
    payee && money && [personOf(payee), unitsOf({ ...money, isNegative: false }, decimal), currency].join();
  const paid = new Set(spent.map((one) => sumWith(one.raw.payee, one)));
  /** Incoming money without a more specific word. */
  const kindOfIncoming = (one: Reading): Kind => {
    const { category, direction } = one.raw;
    // An incoming amount equal to a payment to the same payee in this file is that payment's refund.
    const returned = sumWith(one.raw.payer ?? one.raw.payee, one);
    if (returned && paid.has(returned)) return "refund";
    // In a list of expenses or of a card's charges, a minus is a refund.
    const isAccount = told.isStatement && !told.isCard && !told.isListOfPayees;
    if (!told.isKnown) return negativeIsExpense || direction || isAccount ? "income" : "refund";
    return isCardLine(one.raw) || (category && spentOn.has(category)) ? "refund" : "income";
  };
  return (one: Reading, direction: Direction | undefined): Kind => {
    const kind = said(one, direction);
    if (direction === "in" && (kind === undefined || kind === "expense")) {
      return kind ? "refund" : kindOfIncoming(one);
    }
    return kind === "refund" && direction === "out" ? "expense" : kind ?? "expense";
  };
}
