/** Checks the amounts of an e-invoice, which count only if they add up to the cent. */
import { decimalsOf } from "../../import/units.ts";
import { add, type Decimal, multiply, parseDecimal, roundTo, shift, subtract, ZERO } from "../../providers/decimal.ts";
import type { Said } from "../../words/message.ts";
import type { DocumentFacts } from "../facts.ts";

/** The net amount of a line, or of an allowance or charge on the whole invoice. */
export interface Part {
  kind: "line" | "allowance" | "charge";
  amount: string;
  /** Tax category and rate; absent if the format lacks them. */
  group?: string;
  /** The factors of a line's amount, if the line has them. */
  product?: { quantity: string; price: string; per: string; charges: string[]; allowances: string[] };
}

export interface WrittenTax {
  group: string;
  rate: string;
  net: string;
  tax: string;
}

/** The maximum number of elements in memory; lines are read one by one. */
export const MOST_ELEMENTS = 50_000;

/** Amounts as written. Totals that a format computes instead of stating are absent. */
export interface Written {
  currency: string;
  parts: Part[];
  /** Absent in profiles that serve only accounting. */
  hasLines: boolean;
  taxes: WrittenTax[];
  /** Amounts that an invoice without lines must state, because nothing else proves them. */
  required: ("taxes" | "net" | "gross" | "payable")[];
  totals: Partial<
    Record<"lines" | "allowances" | "charges" | "net" | "tax" | "gross" | "prepaid" | "rounding" | "payable", string>
  >;
}

type Amounts = Pick<DocumentFacts, "net" | "taxes" | "gross" | "payable">;

/** Sellers round a line's price before they print it (PEPPOL-EN16931-R120). */
const LINE_SLACK = parseDecimal("0.02")!;
/** Sellers may round tax by line before they sum it. */
const HALF_CENT = parseDecimal("0.005")!;

class Unproven extends Error {
  constructor(readonly check: string, readonly written?: string, readonly computed?: string) {
    super(check);
  }
}

/** @returns the amounts, or only a question */
export function settle(written: Written): { amounts: Amounts; question?: Said } {
  try {
    return { amounts: prove(written) };
  } catch (thrown) {
    if (!(thrown instanceof Unproven)) throw thrown;
    const { check, written, computed } = thrown;
    const params = { check, ...(written && { written }), ...(computed && { computed }) };
    return { amounts: {}, question: { code: "totals_differ", params } };
  }
}

function prove({ currency, parts, hasLines, taxes, totals, required }: Written): Amounts {
  for (const name of required) {
    if (name === "taxes" ? taxes.length === 0 : totals[name] === undefined) throw new Unproven(name);
  }
  const decimals = decimalsOf(currency);
  const read = (text: string, check: string): Decimal => {
    const number = parseDecimal(text);
    if (!number) throw new Unproven(check, text.slice(0, 40));
    return number;
  };
  const rounded = (amount: Decimal) => parseDecimal(roundTo(amount, decimals))!;
  const total = (name: keyof Written["totals"]) => read(totals[name] ?? "0", name);
  const equal = (check: string, said: Decimal, computed: Decimal, slack = ZERO) => {
    if (isWithin(subtract(said, computed), slack)) return;
    throw new Unproven(check, roundTo(said, decimals), roundTo(computed, decimals));
  };

  const sums = { line: ZERO, allowance: ZERO, charge: ZERO };
  const groups = new Map<string, { net: Decimal; count: bigint }>();
  for (const { kind, amount, group, product } of parts) {
    const net = kind === "allowance" ? subtract(ZERO, read(amount, kind)) : read(amount, kind);
    sums[kind] = add(sums[kind], net);
    if (product) {
      const per = read(product.per, "line");
      const made = multiply(read(product.quantity, "line"), read(product.price, "line"));
      const charges = product.charges.map((one) => read(one, "line")).reduce(add, ZERO);
      const allowances = product.allowances.map((one) => read(one, "line")).reduce(add, ZERO);
      const before = add(subtract(net, charges), allowances);
      equal("line", multiply(before, per), made, multiply(LINE_SLACK, per));
    }
    const { net: sum, count } = groups.get(group ?? "") ?? { net: ZERO, count: 0n };
    groups.set(group ?? "", { net: add(sum, net), count: count + 1n });
  }

  if (hasLines) {
    if (totals.lines !== undefined) equal("lines", total("lines"), sums.line);
    if (totals.allowances !== undefined) equal("allowances", total("allowances"), subtract(ZERO, sums.allowance));
    if (totals.charges !== undefined) equal("charges", total("charges"), sums.charge);
  }
  const provenTaxes = taxes.map((one) => {
    const [rate, net, tax] = [read(one.rate, "rate"), read(one.net, "tax_net"), read(one.tax, "tax")];
    const group = groups.get(one.group);
    if (hasLines && !groups.has("")) equal("tax_net", net, rounded(group?.net ?? ZERO));
    equal("tax", tax, shift(multiply(net, rate), 2), multiply(HALF_CENT, { units: group?.count ?? 1n, scale: 0 }));
    return { rate, net, tax };
  });
  const sumOf = (name: "net" | "tax") => provenTaxes.reduce((sum, one) => add(sum, one[name]), ZERO);
  const net = totals.net === undefined ? sumOf("net") : total("net");
  const tax = totals.tax === undefined ? sumOf("tax") : total("tax");
  if (hasLines && totals.net !== undefined) equal("net", net, add(add(sums.line, sums.allowance), sums.charge));
  if (taxes.length > 0) {
    equal("tax_net", net, sumOf("net"));
    equal("tax", tax, sumOf("tax"));
  }
  const gross = totals.gross === undefined ? add(net, tax) : total("gross");
  equal("gross", gross, add(net, tax));
  const due = add(subtract(gross, total("prepaid")), total("rounding"));
  const payable = totals.payable === undefined ? due : total("payable");
  equal("payable", payable, due);

  const write = (amount: Decimal, check: string) => {
    const text = roundTo(amount, decimals);
    equal(check, amount, rounded(amount));
    return text;
  };
  return {
    net: write(net, "net"),
    ...(taxes.length > 0 && {
      taxes: byRate(provenTaxes).map((one) => ({
        rate: plainRate(one.rate),
        net: write(one.net, "tax_net"),
        tax: write(one.tax, "tax"),
      })),
    }),
    gross: write(gross, "gross"),
    payable: write(payable, "payable"),
  };
}

const isWithin = ({ units, scale }: Decimal, slack: Decimal) =>
  subtract({ units: units < 0n ? -units : units, scale }, slack).units <= 0n;

type Tax = Record<"rate" | "net" | "tax", Decimal>;

/** Several categories may have a rate of zero. */
function byRate(taxes: Tax[]): Tax[] {
  const merged = new Map<string, Tax>();
  for (const one of taxes) {
    const key = plainRate(one.rate);
    const { net, tax } = merged.get(key) ?? { net: ZERO, tax: ZERO };
    merged.set(key, { rate: one.rate, net: add(net, one.net), tax: add(tax, one.tax) });
  }
  return [...merged.values()];
}

/** Without trailing zeros. */
const plainRate = (rate: Decimal): string => roundTo(rate, rate.scale).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");

/** The group of a tax category and rate. */
export const groupOf = (category: string, rate: string): string | undefined => {
  const number = parseDecimal(rate || "0");
  return category && number ? `${category} ${plainRate(number)}` : undefined;
};
