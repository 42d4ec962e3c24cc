/** Finds the total among the amounts of a text. Two different, unexplained totals become a question. */
import type { Said } from "../../words/message.ts";
import type { DocumentFacts } from "../facts.ts";
import { amountsOf, type Found } from "./find_labels.ts";
import type { Label } from "./labels.ts";
import type { Line } from "./lines.ts";
import { type Amount, amountsIn, amountText } from "./values.ts";

interface Totals {
  amounts: Pick<DocumentFacts, "currency" | "gross" | "payable">;
  question?: Said;
}

/** Signs that several currencies have. */
const SHARED: Record<string, string[]> = {
  "$": ["USD", "CAD", "AUD", "NZD", "SGD", "HKD"],
  kr: ["SEK", "NOK", "DKK"],
  "¥": ["JPY", "CNY"],
};

export function findTotals(lines: Line[], found: readonly Found[]): Totals {
  const named = new Map<Label, Amount[]>();
  let isUnclear = false;
  for (const one of found) {
    const amounts = amountsOf(lines, one, found);
    if (amounts.length === 0) continue;
    const single = amounts.length === 1 ? amounts[0] : lastIsSum(amounts);
    if (!single || single.minor === null) {
      isUnclear ||= one.label === "gross" || one.label === "payable" || one.label === "total";
    } else named.set(one.label, [...named.get(one.label) ?? [], single]);
  }
  const values = (label: Label) => [...new Set((named.get(label) ?? []).map(({ minor }) => minor!))];
  const total = settle(values, lines);
  const candidates = (["gross", "payable", "total"] as const).flatMap((label) => named.get(label) ?? []);
  if (candidates.length === 0 && !isUnclear) return { amounts: {} };
  if (isUnclear || !total) return { amounts: {}, question: unclear(candidates) };
  const currency = currencyOf(
    candidates.filter(({ minor }) => minor === total.gross || minor === total.payable),
    lines,
  );
  if (typeof currency !== "string") {
    return { amounts: {}, question: { code: "currency_unclear", params: { currencies: currency } } };
  }
  const { decimals } = candidates[0]!;
  return {
    amounts: {
      currency,
      gross: amountText(total.gross, decimals),
      ...(total.payable !== undefined && { payable: amountText(total.payable, decimals) }),
    },
  };
}

const unclear = (amounts: Amount[]): Said => {
  const written = amounts.map(({ minor, decimals }) => amountText(minor!, decimals));
  return {
    code: "totals_unclear",
    ...(written.length > 1 && { params: { amounts: [...new Set(written)].slice(0, 4) } }),
  };
};

/** Before tax, tax, and both, side by side. */
function lastIsSum(amounts: Amount[]): Amount | undefined {
  const last = amounts.at(-1)!;
  if (amounts.some(({ minor }) => minor === null)) return undefined;
  if (amounts.every(({ minor }) => minor === last.minor)) return last;
  const others = amounts.slice(0, -1).reduce((sum, { minor }) => sum + minor!, 0n);
  return amounts.length > 2 && others === last.minor ? last : undefined;
}

/** @returns undefined when no total is certain */
function settle(values: (label: Label) => bigint[], lines: Line[]): { gross: bigint; payable?: bigint } | undefined {
  const [gross, payable, totals, nets, taxes, paid] = (["gross", "payable", "total", "net", "tax", "paid"] as const)
    .map(values) as [
      bigint[],
      bigint[],
      bigint[],
      bigint[],
      bigint[],
      bigint[],
    ];
  if (gross.length > 1 || payable.length > 1) return undefined;
  const tax = taxes.reduce((sum, one) => sum + one, 0n);
  const isProven = (one: bigint) =>
    taxes.length > 0 && [...nets, ...totals].some((net) => net !== one && net + tax === one);
  const total = gross[0] ??
    onlyTotal(totals, { isProven, isTaxed: nets.length > 0 || tax > 0n, largest: largestIn(lines) });
  const due = payable[0];
  if (total === undefined) {
    if (due === undefined || totals.some((one) => one > due)) return undefined;
    return { gross: due };
  }
  // The total before tax may have the same name as the total with tax.
  if (gross.length > 0 && (tax > 0n && nets.includes(total) || totals.some((one) => one > total))) return undefined;
  if (due === undefined) return { gross: total };
  if (due === total || paid.length === 1 && total - paid[0]! === due) return { gross: total, payable: due };
  return undefined;
}

/**
 * For amounts named only "Total", a word that lists use too: the only amount that is a sum of others, or a single one
 * that is the largest amount.
 */
function onlyTotal(
  totals: bigint[],
  { isProven, isTaxed, largest }: { isProven: (one: bigint) => boolean; isTaxed: boolean; largest: bigint },
): bigint | undefined {
  const proven = totals.filter(isProven);
  if (proven.length === 1) return proven[0];
  return totals.length === 1 && !isTaxed && totals[0]! >= largest ? totals[0] : undefined;
}

const largestIn = (lines: Line[]): bigint =>
  lines.flat().flatMap(({ text }) => amountsIn(text)).reduce(
    (most, { minor }) => minor !== null && minor > most ? minor : most,
    0n,
  );

/** @returns the code, or the text found in its place */
function currencyOf(amounts: Amount[], lines: Line[]): string | string[] {
  const own = new Set(amounts.flatMap(({ currency }) => currency ?? []));
  const all = new Set(lines.flat().flatMap(({ text }) => amountsIn(text)).flatMap(({ currency }) => currency ?? []));
  const found = [...own.size > 0 ? own : all];
  const [one] = found;
  if (found.length !== 1 || !one) return found;
  if (one.length === 3) return one;
  const named = (SHARED[one] ?? []).filter((code) =>
    lines.some((line) => line.some(({ text }) => new RegExp(`\\b${code}\\b`).test(text)))
  );
  return named.length === 1 ? named[0]! : [one];
}
