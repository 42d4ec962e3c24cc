/** Finds columns of money with unclear headers if the cells prove their roles. */
import { provenSign } from "./balance_proof.ts";
import { BLANK } from "./cell_looks.ts";
import { findDecimalSign } from "./conventions.ts";
import { findBalances, totalsAround } from "./formats/csv_account.ts";
import { readDate } from "./date_text.ts";
import type { RoleColumns } from "./layouts/mod.ts";
import { type MoneyText, readMoney } from "./money_text.ts";
import type { CsvRow } from "./read_csv.ts";
import { unitsOf } from "./units.ts";

/** The search tries every pair of candidates. */
const MOST_CANDIDATES = 8;
const MOST_ROWS = 200;

const moneyOf = ({ cells }: CsvRow, column: number): MoneyText | undefined => {
  const cell = cells[column] ?? "";
  return BLANK.test(cell) ? undefined : readMoney(cell);
};
const isZero = (cell: string | undefined) => !cell || !/[1-9]/.test(cell);

/** Columns of numbers only; some rows may be empty. */
export function moneyColumns(rows: CsvRow[], columns: number[]): number[] {
  const some = rows.slice(0, MOST_ROWS);
  return columns.filter((column) => {
    const filled = some.filter(({ cells }) => !BLANK.test(cells[column] ?? ""));
    return filled.length > 0 && filled.every((row) => moneyOf(row, column)) &&
      !filled.every(({ cells }) => isDay(cells[column]!));
  }).slice(0, MOST_CANDIDATES);
}
const isDay = (cell: string) => readDate(cell) !== undefined && !/^\d{1,3}[.,]\d+$/.test(cell);

/** The column that has values exactly where this one has none. */
export const complementOf = (rows: CsvRow[], side: number, columns: number[]): number | undefined =>
  moneyColumns(rows, columns).find((column) => areSides(rows, side, column));

const areSides = (rows: CsvRow[], one: number, other: number): boolean => {
  let [inOne, inOther] = [0, 0];
  for (const { cells } of rows) {
    const [a, b] = [isZero(cells[one]), isZero(cells[other])];
    if (a === b) return false;
    if (a) inOther++;
    else inOne++;
  }
  return inOne > 0 && inOther > 0;
};

/**
 * The amount column or the two sides that a balance confirms in every row, or the sides that the lines around the
 * table confirm.
 * @param isBare whether there is no header; the only column of money is then the amount.
 */
export function proveAmounts(
  rows: CsvRow[],
  free: number[],
  { balance, around, isBare, dayOf }: {
    balance: number | undefined;
    around: CsvRow[];
    isBare: boolean;
    dayOf: (row: CsvRow) => string | undefined;
  },
): Pick<RoleColumns, "amount" | "out" | "in" | "balance"> {
  const found = moneyColumns(rows, free);
  const balances = balance === undefined ? found : [balance];
  for (const after of balances) {
    for (const [i, one] of found.entries()) {
      if (one === after) continue;
      if (isProven(rows, after, (row) => moneyOf(row, one))) return { amount: [one], balance: [after] };
      for (const other of found.slice(i + 1)) {
        if (other === after || !areSides(rows, one, other)) continue;
        for (const [out, into] of [[one, other], [other, one]] as const) {
          const signed = (row: CsvRow) => signedOf(row, out, into);
          if (isProven(rows, after, signed, dayOf)) return { out: [out], in: [into], balance: [after] };
        }
      }
    }
  }
  for (const [i, one] of found.entries()) {
    const other = found.slice(i + 1).find((column) => column !== balance && areSides(rows, one, column));
    const sides = other === undefined ? undefined : sidesOfTotals(rows, [one, other], around);
    if (sides) return sides;
  }
  return isBare && found.length === 1 ? { amount: [found[0]!] } : {};
}

/** Identifies the two sides, by the balances before and after all rows, or by the total of one side. */
function sidesOfTotals(
  rows: CsvRow[],
  pair: [number, number],
  around: CsvRow[],
): { out: number[]; in: number[] } | undefined {
  const read = rows.map((row) => pair.map((column) => isZero(row.cells[column]) ? undefined : moneyOf(row, column)));
  const decimal = findDecimalSign(read.flat().flatMap((money) => money ?? [])).value;
  const worth = (money: MoneyText | undefined) => money ? unitsOf({ ...money, isNegative: false }, decimal) ?? 0n : 0n;
  const [one, other] = pair.map((_, side) => read.reduce((sum, moneys) => sum + worth(moneys[side]), 0n));
  const said = (text: string | undefined) => {
    const money = text ? readMoney(text) : undefined;
    return money && unitsOf(money, decimal);
  };
  const [{ opening, closing } = {}] = findBalances(around, rows.length);
  const [before, after] = [said(opening), said(closing)];
  const asSides = (isOneOut: boolean) => ({ out: [pair[isOneOut ? 0 : 1]], in: [pair[isOneOut ? 1 : 0]] });
  if (one === other) return undefined;
  if (before !== undefined && after !== undefined) {
    if (before - one! + other! === after) return asSides(true);
    return before - other! + one! === after ? asSides(false) : undefined;
  }
  const found = new Set(
    totalsAround(around).flatMap(({ side, cells }) =>
      cells.flatMap((cell) => {
        const money = readMoney(cell);
        const total = money && worth(money);
        return total === one ? side === "out" : total === other ? side === "in" : [];
      })
    ),
  );
  return found.size === 1 ? asSides([...found][0]!) : undefined;
}

/** The column with the balance after each row, whatever its header. */
export function findBalance(
  rows: CsvRow[],
  { amount, out, in: into }: RoleColumns,
  free: number[],
): number | undefined {
  const amountOf = amount?.length
    ? (row: CsvRow) => moneyOf(row, amount[0]!)
    : out?.length && into?.length
    ? (row: CsvRow) => signedOf(row, out[0]!, into[0]!)
    : undefined;
  return amountOf && moneyColumns(rows, free).find((column) => isProven(rows, column, amountOf));
}

/** Whether the balance changes by the fees beside the amounts, or by the amounts alone; undefined if neither fits. */
export function addsFees(
  rows: CsvRow[],
  { amount, out, in: into, balance, fee }: RoleColumns,
): boolean | undefined {
  if (!balance?.length) return undefined;
  const read = rows.map((row) => ({
    money: amount?.length ? moneyOf(row, amount[0]!) : signedOf(row, out?.[0] ?? -1, into?.[0] ?? -1),
    fee: moneyOf(row, fee![0]!),
    balance: moneyOf(row, balance[0]!),
  }));
  const decimal = findDecimalSign(read.flatMap((one) => [one.money ?? [], one.balance ?? []].flat())).value;
  const proves = (hasFees: boolean) =>
    provenSign(read.map((one) => {
      const paid = one.fee && hasFees ? unitsOf({ ...one.fee, isNegative: false }, decimal) ?? 0n : 0n;
      const moved = one.money ? unitsOf(one.money, decimal) : 0n;
      return {
        amount: moved === undefined ? undefined : moved - paid,
        balance: one.balance && unitsOf(one.balance, decimal),
        account: "",
      };
    })) === "negative";
  const [alone, added] = [proves(false), proves(true)];
  return alone === added ? undefined : added;
}

const signedOf = (row: CsvRow, out: number, into: number): MoneyText | undefined => {
  const isOut = !isZero(row.cells[out]);
  const money = moneyOf(row, isOut ? out : into);
  return money && { ...money, isNegative: isOut };
};

/** @param dayOf the day of a row; if given, the balance must confirm the signs, otherwise either sign is accepted */
function isProven(
  rows: CsvRow[],
  balance: number,
  amountOf: (row: CsvRow) => MoneyText | undefined,
  dayOf?: (row: CsvRow) => string | undefined,
): boolean {
  const some = rows.slice(0, MOST_ROWS).map((row) => ({
    ...{ amount: amountOf(row), balance: moneyOf(row, balance), day: dayOf?.(row) },
  }));
  const read = some.filter(({ amount, balance }) => amount && balance);
  // Two rows can fit by chance, for example if both columns count rows.
  if (read.length < 3 || read.length < some.length * 0.9) return false;
  const decimal = findDecimalSign(read.flatMap((one) => [one.amount!, one.balance!])).value;
  const steps = read.map((one) => ({
    ...{ amount: unitsOf(one.amount!, decimal), balance: unitsOf(one.balance!, decimal), day: one.day, account: "" },
  }));
  // Row numbers increase by one.
  if (new Set(steps.map(({ amount }) => amount)).size === 1) return false;
  const sign = provenSign(steps);
  return sign !== undefined && (dayOf === undefined || sign === "negative");
}
