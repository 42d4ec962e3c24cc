/** Writes settled lines as rows of an import, with the reasons for unreadable and omitted lines. */
import type { RefusalFacts } from "../words/message.ts";
import type { RefusalCode } from "../words/words.ts";
import { type LeftOutLine, type LeftOutLines, sumLeftOut } from "./left_out.ts";
import type { Settled, SettledLine } from "./settle_lines.ts";
import { plainHeader } from "./header_words.ts";
import { isWordless, withoutBooking } from "./kinds.ts";
import { lookUp } from "./formats/look_up.ts";
import { cut, oneLine, shorten } from "./shorten.ts";
import { type Direction, isLeftOut, type LeftOut } from "./statement.ts";
import { fromUnits, toUnits } from "./units.ts";
import { readUrl } from "./url_text.ts";

/** The maximum length of a statement line in the books. */
const MAX_TEXT = 500;
/** The limit for the name of an expense. */
const MAX_NAME = 120;
/** The limit for the number of an account. */
const MAX_NUMBER = 60;

/** A row as an item of log_expenses, and its line. */
export interface ImportRow {
  line: number;
  date: string;
  amount: string;
  name: string;
  currency?: string;
  /** The account's charge for a foreign amount. */
  charged?: { amount: string; currency: string };
  payee?: string;
  category?: string;
  note?: string;
  url?: string;
  is_refund?: true;
  tax?: string;
  /** The row may be a transfer to one of the person's own accounts. */
  may_be_own?: true;
  counter_account?: string;
  /** The row's name without the bank's words, if any. Only this name can contain a category's keyword. */
  subject?: string;
  /** The bank's own words, which identify the line in a repeated import. */
  text: string;
}

/** A line of the statement other than spending. */
export interface LeftOutRow {
  line: number;
  kind: LeftOut;
  date: string;
  name: string;
  /** Who sent it, if it is income. */
  payee?: string;
  /** The account that paid it, if it is income. */
  counter_account?: string;
  amount: string;
  currency?: string;
  direction: Direction;
  text: string;
}

/** An unreadable row, with its readable parts. */
export interface BadRow {
  line: number;
  error: RefusalFacts;
  text?: string;
  date?: string;
  amount?: string;
  currency?: string;
  direction?: Direction;
}

export interface WrittenRows {
  rows: ImportRow[];
  rows_bad: BadRow[];
  left_out: LeftOutLines[];
  /** Omitted lines with a day and an amount. A line whose fee is spending is among the rows. */
  leftOutRows: LeftOutRow[];
  /** Cells in a column of links that contain none. */
  brokenLinks: number;
}

export function writeRows({ lines, conventions }: Settled): WrittenRows {
  const rows: ImportRow[] = [];
  const rows_bad: WrittenRows["rows_bad"] = [];
  const leftOut: LeftOutLine[] = [];
  const leftOutRows: LeftOutRow[] = [];
  const common = commonName(lines);
  const subjectOf = lookUp((label) => {
    const subject = withoutBooking(label);
    return subject === plainHeader(label) ? undefined : subject;
  });
  for (const settled of lines) {
    const { raw: { line }, kind, amount, currency } = settled;
    const error = settled.raw.problem;
    if (error) rows_bad.push(badRowOf(settled, error));
    else if (isLeftOut(kind)) {
      leftOut.push({ line, kind, amount, currency });
      // The fee of an exchange or a transfer is spending.
      if (settled.fee && settled.date && labelOf(settled)) {
        rows.push(rowOf({ ...settled, kind: "expense", amount: "0" }, common, subjectOf));
      } else leftOutRows.push(...leftOutRowOf(settled, kind));
    } else {
      const refusal = refusalOf(settled, conventions);
      if (refusal) rows_bad.push(badRowOf(settled, refusal));
      else rows.push(rowOf(settled, common, subjectOf));
    }
  }
  const brokenLinks = lines.filter(({ raw: { url }, kind }) => url && !isLeftOut(kind) && !readUrl(url.trim())).length;
  return { rows, rows_bad, left_out: sumLeftOut(leftOut), leftOutRows, brokenLinks };
}

/** "Auftraggeber: REWE Buchungstext: …" */
const LABEL = /^(auftraggeber|empf[äa]nger|zahlungs\p{L}+)\s?: ?/iu;

function labelOf({ raw: { name, payee = "", note = "" } }: SettledLine, common?: string): string {
  const said = oneLine(name).replace(LABEL, "");
  const party = oneLine(payee);
  const namesNothing = name === common || isWordless(said);
  const more = party === said ? oneLine(note) : party;
  return more && namesNothing ? more : said || party;
}

/** A name that more than four in five rows have, such as "Pin", identifies none of them. */
function commonName(lines: SettledLine[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { raw: { name } } of lines) if (name) counts.set(name, (counts.get(name) ?? 0) + 1);
  const [name, count] = [...counts].reduce((most, one) => one[1] > most[1] ? one : most, ["", 0] as [string, number]);
  return lines.length > 2 && count > lines.length * 0.8 ? name : undefined;
}

function refusalOf(settled: SettledLine, { date_format, decimal }: Settled["conventions"]): RefusalFacts | undefined {
  const { raw, date, amount } = settled;
  const refuse = (code: RefusalCode, params?: Record<string, unknown>) => ({ code, ...(params && { params }) });
  if (!raw.date) return refuse("invalid_argument.row_without_date");
  if (!date) return refuse("invalid_argument.row_date", { value: shorten(raw.date, 40), format: date_format });
  if (!raw.amount) return refuse("invalid_argument.row_without_amount");
  if (!amount) return refuse("invalid_argument.row_amount", { value: shorten(raw.amount, 40), decimal });
  return /^0(\.0*)?$/.test(amount) && !settled.fee ? refuse("invalid_argument.row_amount_zero") : undefined;
}

/** @param settled a line with a date, an amount and a name */
function rowOf(
  settled: SettledLine,
  common: string | undefined,
  subjectOf: (label: string) => string | undefined,
): ImportRow {
  const { raw, date, fee, kind, currency, original } = settled;
  const amount = fee ? withFee(settled.amount!, fee, kind === "refund") : settled.amount!;
  // A row without text takes its kind as its name.
  const label = labelOf(settled, common) || oneLine(raw.type || raw.category || "") || textOf(settled);
  const payee = payeeOf(settled);
  const subject = subjectOf(label);
  const category = raw.category && oneLine(raw.category);
  const note = raw.note || (label.length > MAX_NAME ? label : "");
  const url = raw.url && readUrl(raw.url.trim());
  const tax = raw.tax?.replace(/^-/, "");
  // Assigned one by one, because each spread would create another object for each row.
  const row: ImportRow = { line: raw.line, date: date!, amount, name: shorten(label, MAX_NAME), text: textOf(settled) };
  if (currency) row.currency = currency;
  if (original) Object.assign(row, original, { charged: { amount, currency: currency! } });
  if (payee) row.payee = payee;
  if (subject !== undefined) row.subject = subject;
  if (category) row.category = shorten(category, 60);
  if (note) row.note = shorten(note, 2000);
  if (url) row.url = url;
  if (tax) row.tax = tax;
  if (settled.mayBeOwn) row.may_be_own = true;
  if (raw.counter_account) row.counter_account = shorten(raw.counter_account, MAX_NUMBER);
  if (kind === "refund") row.is_refund = true;
  return row;
}

/** The method of payment is not a payee. */
function payeeOf({ raw: { payee } }: SettledLine): string | undefined {
  const said = payee && !isWordless(payee) && oneLine(payee);
  return said ? shorten(said, MAX_NAME) : undefined;
}

function badRowOf(settled: SettledLine, error: RefusalFacts): BadRow {
  const { raw: { line, problem }, date, amount, currency, direction } = settled;
  return {
    ...{ line, error, text: textOf(settled) },
    ...(date && { date }),
    // Cells in wrong columns prove nothing.
    ...(amount && !problem && { amount }),
    ...(currency && { currency }),
    ...(direction && { direction }),
  };
}

function leftOutRowOf(settled: SettledLine, kind: LeftOut): LeftOutRow[] {
  const { raw: { line, counter_account }, date, amount, currency, direction } = settled;
  if (!date || !amount || !direction) return [];
  const text = textOf(settled);
  const name = shorten(labelOf(settled) || text, MAX_NAME);
  const payee = kind === "income" && payeeOf(settled);
  return [{
    ...{ line, kind, date, name, amount, direction, text },
    ...(payee && { payee }),
    ...(kind === "income" && counter_account && { counter_account: shorten(counter_account, MAX_NUMBER) }),
    ...(currency && { currency }),
  }];
}

/** The file's text of a line, on one line; never empty. */
function textOf({ raw: { name, payee, note, type }, kind }: SettledLine): string {
  let text = "";
  for (const part of [name, payee, note]) {
    const said = part && oneLine(cut(part, MAX_TEXT));
    if (said && !text.includes(said)) text = text ? `${text} ${said}` : said;
  }
  return shorten(text, MAX_TEXT) || shorten(oneLine(type ?? ""), MAX_TEXT) || kind;
}

/** A fee adds to a payment and reduces a refund. */
const withFee = (amount: string, fee: string, isRefund: boolean) => {
  const less = toUnits(amount) - toUnits(fee);
  return isRefund ? fromUnits(less > 0n ? less : 0n) : fromUnits(toUnits(amount) + toUnits(fee));
};
