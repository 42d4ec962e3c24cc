/** Counts and adds up lines other than spending, by kind. */
import type { LeftOut } from "./statement.ts";
import { decimalsOf, fromUnits, toUnits } from "./units.ts";

export interface LeftOutLine {
  line: number;
  kind: LeftOut;
  /** A plain decimal; absent when the amount is unreadable. */
  amount?: string | undefined;
  currency?: string | undefined;
}

export interface LeftOutLines {
  kind: LeftOut;
  count: number;
  /** By currency; "" for amounts without one. */
  totals: Record<string, string>;
  /** The first lines in the file. */
  lines: number[];
}

/** The number of lines listed per kind. */
const MAX_NAMED = 20;

/** Kinds with the most lines first. */
export function sumLeftOut(all: LeftOutLine[]): LeftOutLines[] {
  const kinds = Map.groupBy(all, ({ kind }) => kind);
  return [...kinds].map(([kind, lines]) => ({
    kind,
    count: lines.length,
    totals: totalsOf(lines),
    lines: lines.slice(0, MAX_NAMED).map(({ line }) => line),
  })).toSorted((a, b) => b.count - a.count);
}

/** Exact sums of plain decimals by currency. */
export function totalsOf(lines: { amount?: string | undefined; currency?: string | undefined }[]) {
  const sums = new Map<string, bigint>();
  for (const { amount, currency = "" } of lines) {
    const units = amount && toUnits(amount);
    if (units) sums.set(currency, (sums.get(currency) ?? 0n) + units);
  }
  return Object.fromEntries([...sums].map(([currency, sum]) => [currency, fromUnits(sum, decimalsOf(currency))]));
}
