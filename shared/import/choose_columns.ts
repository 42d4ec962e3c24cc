/** Rules that choose among the columns of a table. */
import { findDateOrder } from "./conventions.ts";
import { readDate, toIsoDate } from "./date_text.ts";
import { lookUp } from "./formats/look_up.ts";
import { isCompound, isSideOfAmount, plainHeader, type Role } from "./header_words.ts";
import type { RoleColumns } from "./layouts/mod.ts";
import type { CsvRow } from "./read_csv.ts";

/** Columns of money out and in, or one of amounts. @param told the amount column that the caller specified */
export function settleSides({ out, in: into, amount, ...rest }: RoleColumns, told: number | undefined): RoleColumns {
  const isAlone = !amount?.length && (out || into);
  const isSided = told === undefined ? isAlone || (out && into) : out?.includes(told);
  return isSided ? { ...rest, ...(out && { out }), ...(into && { in: into }) } : { ...rest, ...(amount && { amount }) };
}

/**
 * A column of payments beside a column of charges contains the card's payments. Two words for money out don't name two
 * sides.
 */
export function tellCharges(columns: RoleColumns, plain: string[], isOut: (column: number) => boolean): RoleColumns {
  const [one] = columns.out ?? [];
  const other = one === undefined || columns.in ? -1 : plain.findIndex((_, column) => column !== one && isOut(column));
  if (one === undefined || other < 0) return columns;
  const [payments] = [one, other].filter((column) => plain[column] === "payments");
  const { out: _, ...rest } = columns;
  if (payments === undefined) return rest;
  return { ...rest, out: [payments === one ? other : one], in: [payments] };
}

/** Returns a function that reads a row's day. It finds none while the date order is unknown. */
export function daysOf(rows: CsvRow[], column = -1): (row: CsvRow) => string | undefined {
  const read = lookUp((cell) => readDate(cell));
  const dayOf = ({ cells }: CsvRow) => cells[column] ? read(cells[column]) : undefined;
  const { value, question } = findDateOrder(rows.flatMap((row) => dayOf(row) ?? []), {});
  if (question) return () => undefined;
  return (row) => {
    const day = dayOf(row);
    return day && toIsoDate(day, value);
  };
}

/** The currency column whose header shares a word with the amount's header, if there are several. */
export function currenciesOf(rows: CsvRow[], plain: string[], money: number, found: number[]): number[] {
  const [first, ...others] = found;
  const isSame = (column: number) => rows.every(({ cells }) => cells[column] === cells[first!]);
  if (first === undefined || others.every(isSame)) return found.slice(0, 1);
  const words = new Set(plain[money]!.split(" "));
  const sharing = found.filter((column) => plain[column]!.split(" ").some((word) => words.has(word)));
  return sharing.length === 1 ? sharing : found;
}

/** Roles that are still missing, with a test for headers that combine a listed word with others. */
export function compoundsOf(columns: RoleColumns): [role: Role, fits: (header: string) => boolean][] {
  const hasMoney = columns.amount !== undefined || columns.out !== undefined || columns.in !== undefined;
  return [
    ...columns.date ? [] : [["date", (header: string) => isCompound("date", header)] as [Role, () => boolean]],
    ...hasMoney ? [] : (["out", "in"] as const).map((side): [Role, (header: string) => boolean] => [
      side,
      (header) => isSideOfAmount(side, plainHeader(header)),
    ]),
    ...hasMoney ? [] : [["amount", (header: string) => isCompound("amount", header)] as [Role, () => boolean]],
  ];
}
