/** Reads e-invoices of EN 16931, in either of its syntaxes. */
import { attributeOf } from "../../import/formats/scan_markup.ts";
import { type Element, readMarkup } from "../../import/formats/markup.ts";
import { readIban, readReference } from "../checksums.ts";
import type { DocumentFacts } from "../facts.ts";
import { currencyOf, dayOf, nameOf, numberOf, only, present, unique } from "../fields.ts";
import { kindOf, withSign } from "./kind.ts";
import { groupOf, MOST_ELEMENTS, type Part, settle, type Written } from "./settle.ts";
import type { Syntax } from "./syntax.ts";

/** @returns undefined when the text is not such a document */
export function readEn16931(text: string, syntax: Syntax): DocumentFacts | undefined {
  const parts: Part[] = [];
  const currencies = new Set<string>();
  const takeLine = (line: Element) => void parts.push(lineOf(line, { syntax, currencies }));
  const document = readMarkup(text, {
    isSgml: false,
    most: MOST_ELEMENTS,
    ...(syntax.renamed && { renamed: syntax.renamed }),
    each: Object.fromEntries(syntax.lines.map((name) => [name, takeLine])),
  });
  const root = document && allAt(document, syntax.root)[0];
  if (!root) return undefined;
  for (const one of allAt(root, syntax.adjustments.at)) parts.push(adjustmentOf(one, { syntax, currencies }));

  const currency = currencyOf(textAt(root, syntax.currency));
  const settled = amountsOf(root, { syntax, currency, currencies, parts });
  const seller = allAt(root, syntax.seller)[0];
  const taxIds = seller ? allAt(seller, syntax.taxIds).map(({ text }) => text) : [];
  const payee = seller && nameOf(firstOf(seller, syntax.names));
  const paidTo = nameOf(textAt(root, syntax.paidTo));
  const ibans = valid(allAt(root, syntax.ibans), readIban);
  const days = unique(syntax.due.flatMap((path) => allAt(root, path)).flatMap(({ text }) => dayOf(text) ?? []));
  const period = present({ from: dayOf(textAt(root, syntax.period.from)), to: dayOf(textAt(root, syntax.period.to)) });
  return withSign({
    kind: kindOf(textAt(root, syntax.type), root.name === "CreditNote"),
    format: syntax.format,
    ...present({
      payee,
      payee_tax_id: numberOf(taxIds.find((id) => /^[A-Z]{2}/.test(id)) ?? taxIds[0]),
      customer_number: numberOf(textAt(root, syntax.customer)),
      number: numberOf(textAt(root, syntax.number)),
      issued_on: dayOf(textAt(root, syntax.issued)),
      due_on: only(days),
      period: period.from || period.to ? period : undefined,
      currency,
      iban: only(ibans),
      creditor_reference: only(valid(allAt(root, syntax.references), readReference)),
    }),
    ...settled.amounts,
    questions: [
      ...(settled.question ? [settled.question] : []),
      ...(paidTo && paidTo !== payee ? [{ code: "paid_to_other", params: { name: paidTo } }] : []),
      ...(days.length > 1 ? [{ code: "several_due_dates", params: { days: days.toSorted() } }] : []),
      ...(ibans.length > 1 ? [{ code: "several_ibans", params: { ibans } }] : []),
    ],
  });
}

interface Context {
  syntax: Syntax;
  /** Collects the currencies of all amounts. */
  currencies: Set<string>;
}

const currencyAt = ({ attributes }: Element) => attributeOf(attributes, "currencyID");

/** The amount at a path; several amounts are joined, which makes them unreadable. */
function amountAt(element: Element, path: string, currencies: Set<string>): string | undefined {
  const found = allAt(element, path);
  for (const one of found) currencies.add(currencyAt(one) ?? "");
  return found.length > 0 ? found.map(({ text }) => text).join(" ") : undefined;
}

function amountsOf(
  root: Element,
  { syntax, currency, currencies, parts }: Context & { currency: string | undefined; parts: Part[] },
) {
  const totals: Written["totals"] = {};
  for (const [name, path] of Object.entries(syntax.totals) as [keyof Written["totals"], string][]) {
    const amount = amountAt(root, path, currencies);
    if (amount !== undefined) totals[name] = amount;
  }
  // The total of tax may appear a second time, in the currency of the tax declaration.
  const isOwn = (element: Element | undefined) => [undefined, currency].includes(element && currencyAt(element));
  const tax = allAt(root, syntax.tax).filter(isOwn).map(({ text }) => text);
  if (tax.length > 0) totals.tax = tax.join(" ");
  const paths = syntax.taxes;
  const taxes = allAt(root, paths.at).filter((one) => isOwn(allAt(one, paths.tax)[0])).map((one) => {
    const rate = textAt(one, paths.rate) || "0";
    return {
      ...{ group: groupOf(textAt(one, paths.category), rate) ?? "", rate },
      net: amountAt(one, paths.net, currencies) ?? "",
      tax: textAt(one, paths.tax),
    };
  });
  const others = [...currencies].filter((one) => one !== "" && one !== currency);
  if (!currency || others.length > 0) {
    const params = { currencies: [...(currency ? [currency] : []), ...others].map((one) => one.slice(0, 3)) };
    return { amounts: {}, question: { code: "currency_unclear", params } };
  }
  const hasLines = !syntax.lineless?.test(textAt(root, syntax.profile));
  return settle({ currency, parts, hasLines, taxes, totals, required: ["net", "gross", "payable"] });
}

function lineOf(line: Element, { syntax, currencies }: Context): Part {
  const paths = syntax.line;
  const rate = textAt(line, paths.rate);
  const group = groupOf(textAt(line, paths.category), rate);
  const [quantity, price] = [textAt(line, paths.quantity), textAt(line, paths.price)];
  const adjustments = allAt(line, paths.adjustments).map((one) => adjustmentOf(one, { syntax, currencies }));
  const amountsOf = (kind: Part["kind"]) => adjustments.filter((one) => one.kind === kind).map((one) => one.amount);
  return {
    kind: "line",
    amount: amountAt(line, paths.net, currencies) ?? "",
    ...(group && { group }),
    ...(quantity && price && {
      product: {
        ...{ quantity, price, per: textAt(line, paths.per) || "1" },
        ...{ charges: amountsOf("charge"), allowances: amountsOf("allowance") },
      },
    }),
  };
}

function adjustmentOf(element: Element, { syntax, currencies }: Context): Part {
  const paths = syntax.adjustments;
  const group = groupOf(textAt(element, paths.category), textAt(element, paths.rate));
  return {
    kind: textAt(element, paths.isCharge) === "true" ? "charge" : "allowance",
    amount: amountAt(element, paths.amount, currencies) ?? "",
    ...(group && { group }),
  };
}

/** All elements at a path. */
function allAt(element: Element, path: string): Element[] {
  return path.split("/").reduce((found, step) => {
    const names = step.split("|");
    return found.flatMap(({ children }) => children.filter(({ name }) => names.includes(name)));
  }, [element]);
}

const textAt = (element: Element, path: string): string => allAt(element, path)[0]?.text ?? "";

/** The first text of several paths. */
const firstOf = (element: Element, paths: string[]): string =>
  paths.map((path) => textAt(element, path)).find(Boolean) ?? "";

const valid = (elements: Element[], read: (text: string) => string | undefined): string[] =>
  unique(elements.flatMap(({ text }) => read(text) ?? []));
