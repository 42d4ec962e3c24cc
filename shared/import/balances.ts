/**
 * Checks a file's lines against its balances: the opening balance plus all lines is the closing balance. Omitted lines
 * count too, but unbooked lines do not.
 */
import { DATE_ORDERS, type DateOrder, readDate, toIsoDate } from "./date_text.ts";
import { type DecimalSign, isCode, readMoney } from "./money_text.ts";
import type { Settled, SettledLine } from "./settle_lines.ts";
import type { Kind, Statement } from "./statement.ts";
import { findPath, isChain, type Step } from "./balance_proof.ts";
import { decimalsOf, fromUnits, toUnits, unitsOf } from "./units.ts";

export interface Balances {
  opening?: string;
  closing?: string;
  /** The day of the closing balance, YYYY-MM-DD; absent if its lines contradict it. */
  closing_on?: string;
  currency?: string;
}

/** The difference between the change of the balances and the sum of the lines. */
export interface Difference {
  difference: string;
  currency?: string;
}

export interface ProvenBalances {
  /** Absent if the file covers several accounts or currencies. */
  balances?: Balances;
  /** Absent unless the file has both balances of all its lines. */
  balance_proof?: "proven" | Difference;
}

/** In ten-thousandths, with a minus for debt. */
interface Found {
  currency: string;
  opening?: bigint | undefined;
  closing?: bigint | undefined;
  closing_on?: string | undefined;
  /** Undefined without two balances to compare. */
  gap?: bigint | undefined;
}

export function proveBalances(statement: Statement, settled: Settled): ProvenBalances {
  // Amounts can't be added until their format is known.
  if (settled.questions.some(({ id }) => id !== "date_format")) return {};
  const found = statement.lines.some(({ balance }) => balance)
    ? findInAnyLines(statement, settled)
    : findInHeaders(statement, settled);
  if (found.length === 0) return {};
  const wrong = found.find(({ gap }) => gap);
  const isProven = found.every(({ gap }) => gap === 0n);
  const one = joined(found);
  return {
    ...(one && { balances: written(one) }),
    ...(wrong ? { balance_proof: differenceOf(wrong) } : isProven && { balance_proof: "proven" as const }),
  };
}

const differenceOf = ({ gap, currency }: Found): Difference => ({
  difference: fromUnits(gap!, decimalsOf(currency)),
  ...(isCode(currency) && { currency }),
});

const written = ({ opening, closing, closing_on, currency }: Found): Balances => ({
  ...(opening !== undefined && { opening: fromUnits(opening, decimalsOf(currency)) }),
  ...(closing !== undefined && { closing: fromUnits(closing, decimalsOf(currency)) }),
  ...(closing !== undefined && closing_on && { closing_on }),
  ...(isCode(currency) && { currency }),
});

/** Consecutive statements, oldest or newest first, merged into one; undefined if they do not follow one another. */
function joined(found: Found[]): Found | undefined {
  const [first, last] = [found[0]!, found.at(-1)!];
  const follow = (all: Found[]) =>
    all.every(({ currency, opening }, i) =>
      currency === first.currency && (i === 0 || (opening !== undefined && opening === all[i - 1]!.closing))
    );
  if (follow(found)) return { ...last, opening: first.opening };
  return follow(found.toReversed()) ? { ...first, opening: last.opening } : undefined;
}

/** Balances of the whole file or of its parts. */
function findInHeaders({ balances = [], conventions }: Statement, settled: Settled): Found[] {
  const { decimal } = settled.conventions;
  return balances.map(({ from, to, currency = "", ...texts }): Found => {
    const lines = settled.lines.slice(from, to).filter((line) => isCounted(line, conventions));
    const named = currency || lines.find((line) => line.currency)?.currency || "";
    const [opening, closing] = [readUnits(texts.opening, decimal), readUnits(texts.closing, decimal)];
    const moved = lines.filter((line) => (line.currency ?? named) === named)
      .reduce((sum, line) => sum + amountOf(line), 0n);
    const gaps = opening === undefined || closing === undefined
      ? []
      : [closing - opening - moved, ...(conventions.isCard ? [opening - closing - moved] : [])];
    const gap = gaps.includes(0n) ? 0n : gaps[0];
    // If the file names no day, a closing balance gets the last line's day, but only if the lines prove it.
    const closing_on = gap
      ? undefined
      : texts.closing_on
      ? readDay(texts.closing_on, DATE_ORDERS[settled.conventions.date_format])
      : gap === 0n
      ? lastDay(lines)
      : undefined;
    // Whether the lines show that the file writes a debt without a sign.
    const sign = gap === 0n && gaps[0] !== 0n ? -1n : 1n;
    const signed = (units: bigint | undefined) => units === undefined ? undefined : sign * units;
    return { currency: named, opening: signed(opening), closing: signed(closing), closing_on, gap };
  });
}

/** Banks also write a balance next to pending rows, which may or may not include their amounts. */
function findInAnyLines(statement: Statement, settled: Settled): Found[] {
  const found = findInLines(statement, settled, true);
  if (found.every(({ gap }) => !gap)) return found;
  const booked = findInLines(statement, settled, false);
  return booked.length > 0 && booked.every(({ gap }) => gap === 0n) ? booked : found;
}

/** Balances after all or some lines, by account and currency. */
function findInLines({ conventions }: Statement, settled: Settled, hasUnbooked: boolean): Found[] {
  const accounts = new Map<string, SettledLine[]>();
  for (const line of settled.lines) {
    if (!isCounted(line, conventions) || !(hasUnbooked || isBooked(line.kind, conventions))) continue;
    const key = `${line.currency ?? ""}\n${line.raw.account ?? ""}`;
    const lines = accounts.get(key);
    if (lines) lines.push(line);
    else accounts.set(key, [line]);
  }
  return [...accounts.values()].map((lines): Found => {
    const steps = lines.map((line): Step => ({ amount: amountOf(line), balance: line.balance }));
    const [first, last] = [lines[0]!.date ?? "", lines.at(-1)!.date ?? ""];
    const inSteps = findInSteps(steps, first > last, conventions.isCard === true);
    const closing_on = inSteps.gap ? undefined : lastDay(lines.filter(({ balance }) => balance !== undefined));
    return { currency: lines[0]!.currency ?? "", closing_on, ...inSteps };
  });
}

const lastDay = (lines: SettledLine[]): string | undefined =>
  lines.reduce<string | undefined>((last, { date }) => date && date > (last ?? "") ? date : last, undefined);

/**
 * @param text contains one date, perhaps with a time: 20261130, 2026-11-30T12:00, "Kontostand vom 30.11.2026"
 * @param order of the file's other dates
 */
function readDay(text: string, order: DateOrder): string | undefined {
  const found = /(?<!\d)(?:\d{8}(?!\d{7})|\d{1,4}([./-])\d{1,2}\1\d{2,4})/.exec(text)?.[0] ?? "";
  const day = readDate(found.replace(/^(\d{8})\d+$/, "$1"));
  return day && toIsoDate(day, day.order ?? order);
}

/**
 * If every line has a balance, the opening and closing balances could fit by chance, so each must also follow from
 * another balance.
 * @param isCard whether its balance may be a debt
 */
function findInSteps(steps: Step[], isNewestFirst: boolean, isCard: boolean): Omit<Found, "currency"> {
  const owed = steps.map(({ amount, balance }): Step => ({ amount, balance: balance && -balance }));
  const readings = isCard ? [steps, owed] : [steps];
  const orders = readings.flatMap((all) => isNewestFirst ? [all.toReversed(), all] : [all, all.toReversed()]);
  const chain = orders.find(isChain);
  if (chain) return walk(chain);
  const path = readings.map(findPath).find(Boolean);
  if (path) return { ...path, gap: 0n };
  const walks = orders.map(walk);
  const isComplete = steps.every(({ balance }) => balance !== undefined);
  return walks.find(({ gap }) => isComplete ? gap : gap === 0n) ?? walks[0]!;
}

/** From the oldest step to the newest, without steps that have no balance. */
function walk(steps: Step[]): Omit<Found, "currency"> {
  let [moved, count] = [0n, 0];
  let opening: bigint | undefined;
  let start: bigint | undefined;
  for (const { amount, balance } of steps) {
    moved += amount;
    if (balance === undefined) continue;
    count++;
    start = balance - moved;
    opening ??= start;
  }
  return {
    opening,
    closing: start === undefined ? undefined : start + moved,
    gap: count < 2 ? undefined : start! - opening!,
  };
}

/** Whether the bank booked a line, so that its balance contains it. */
function isCounted({ raw, kind, amount }: SettledLine, conventions: Statement["conventions"]): boolean {
  if (raw.problem || amount === undefined || kind === "balance") return false;
  return raw.balance ? true : isBooked(kind, conventions);
}

const isBooked = (kind: Kind, { booksReversals }: Statement["conventions"]): boolean =>
  kind !== "pending" && kind !== "declined" && (kind !== "reverted" || booksReversals === true);

function amountOf({ amount, fee, direction }: SettledLine): bigint {
  const units = toUnits(amount!);
  return (direction === "out" ? -units : units) - (fee ? toUnits(fee) : 0n);
}

function readUnits(text: string | undefined, decimal: DecimalSign): bigint | undefined {
  const money = text ? readMoney(text) : undefined;
  return money && unitsOf(money, decimal);
}
