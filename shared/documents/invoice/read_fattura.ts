/** Reads FatturaPA 1.2, the e-invoice of Italy. */
import { childrenOf, type Element, everyElement, find, readMarkup, textAt } from "../../import/formats/markup.ts";
import { add, type Decimal, parseDecimal, roundTo, subtract, ZERO } from "../../providers/decimal.ts";
import type { Said } from "../../words/message.ts";
import { readIban, readReference } from "../checksums.ts";
import type { DocumentFacts } from "../facts.ts";
import { currencyOf, dayOf, nameOf, numberOf, only, present, unique } from "../fields.ts";
import { withSign } from "./kind.ts";
import { groupOf, MOST_ELEMENTS, type Part, settle, type Written } from "./settle.ts";

const CREDIT_NOTES = ["TD04", "TD08"];
/** VAT that the customer pays to the state. */
const SPLIT = "S";

/** @returns undefined for any other document */
export function readFattura(text: string): DocumentFacts | undefined {
  const parts: Part[] = [];
  const days: string[] = [];
  const document = readMarkup(text, {
    isSgml: false,
    most: MOST_ELEMENTS,
    each: {
      DettaglioLinee(line) {
        parts.push(lineOf(line));
        days.push(textAt(line, "DataInizioPeriodo"), textAt(line, "DataFinePeriodo"));
      },
    },
  });
  const root = document && find(document, "FatturaElettronica");
  const [body, ...others] = root ? childrenOf(root, "FatturaElettronicaBody") : [];
  if (!root || !body) return undefined;
  const seller = find(root, "FatturaElettronicaHeader/CedentePrestatore/DatiAnagrafici");
  const party = seller && present({
    payee: nameOf(
      textAt(seller, "Anagrafica/Denominazione") ||
        `${textAt(seller, "Anagrafica/Nome")} ${textAt(seller, "Anagrafica/Cognome")}`,
    ),
    payee_tax_id: numberOf(textAt(seller, "IdFiscaleIVA/IdPaese") + textAt(seller, "IdFiscaleIVA/IdCodice")),
  });
  const questions: Said[] = [];
  if (others.length > 0) {
    questions.push({ code: "several_invoices", params: { count: 1 + others.length } });
    return { kind: "other", format: "fatturapa", ...party, questions };
  }
  return withSign({ format: "fatturapa", ...party, ...factsOf(body, { parts, days }) });
}

function factsOf(body: Element, { parts, days }: { parts: Part[]; days: string[] }): Omit<DocumentFacts, "format"> {
  const general = find(body, "DatiGenerali/DatiGeneraliDocumento") ?? body;
  const currency = currencyOf(textAt(general, "Divisa"));
  const payments = everyElement(body, "DettaglioPagamento");
  const due = unique(payments.flatMap((one) => dayOf(textAt(one, "DataScadenzaPagamento")) ?? []));
  const ibans = unique(payments.flatMap((one) => readIban(textAt(one, "IBAN")) ?? []));
  const references = unique(payments.flatMap((one) => readReference(textAt(one, "CodicePagamento")) ?? []));
  const { amounts, question } = amountsOf(body, { general, currency, parts, payments });
  const [from, ...later] = days.flatMap((day) => dayOf(day) ?? []).toSorted();
  return {
    kind: CREDIT_NOTES.includes(textAt(general, "TipoDocumento")) ? "credit_note" : "invoice",
    ...present({
      number: numberOf(textAt(general, "Numero")),
      issued_on: dayOf(textAt(general, "Data")),
      due_on: only(due),
      period: from && later.length > 0 ? { from, to: later.at(-1)! } : undefined,
      currency,
      iban: only(ibans),
      creditor_reference: only(references),
    }),
    ...amounts,
    questions: [
      ...(question ? [question] : []),
      ...(due.length > 1 ? [{ code: "several_due_dates", params: { days: due.toSorted() } }] : []),
      ...(ibans.length > 1 ? [{ code: "several_ibans", params: { ibans } }] : []),
    ],
  };
}

/** Groups by tax rate, and untaxed parts by their reason. */
const groupAt = (element: Element) => groupOf(textAt(element, "Natura") || "S", textAt(element, "AliquotaIVA")) ?? "";

function lineOf(line: Element): Part {
  const [quantity, price] = [textAt(line, "Quantita") || "1", textAt(line, "PrezzoUnitario")];
  // Discounts are percentages in sequence, with unknown rounding.
  const isPlain = !find(line, "ScontoMaggiorazione");
  return {
    ...{ kind: "line", amount: textAt(line, "PrezzoTotale"), group: groupAt(line) },
    ...(isPlain && { product: { quantity, price, per: "1", charges: [], allowances: [] } }),
  };
}

function amountsOf(
  body: Element,
  { general, currency, parts, payments }: {
    general: Element;
    currency: string | undefined;
    parts: Part[];
    payments: Element[];
  },
): ReturnType<typeof settle> {
  if (!currency) return { amounts: {}, question: { code: "currency_unclear", params: { currencies: [] } } };
  const charge = (element: Element, name: string): Part[] => {
    const amount = textAt(element, name);
    return amount ? [{ kind: "charge", amount, group: groupAt(element) }] : [];
  };
  const summaries = everyElement(body, "DatiRiepilogo");
  const rounding = textAt(general, "Arrotondamento") || "0";
  const gross = textAt(general, "ImportoTotaleDocumento");
  const withheld = childrenOf(general, "DatiRitenuta").map((one) => textAt(one, "ImportoRitenuta"));
  const split = summaries.filter((one) => textAt(one, "EsigibilitaIVA") === SPLIT).map((one) => textAt(one, "Imposta"));
  const taxes = summaries.map((one) => ({
    ...{ group: groupAt(one), rate: textAt(one, "AliquotaIVA") },
    ...{ net: textAt(one, "ImponibileImporto"), tax: textAt(one, "Imposta") },
  }));
  const totals: Written["totals"] = {
    ...(gross && { gross: difference(gross, rounding) }),
    prepaid: sum([...withheld, ...split]),
    rounding,
  };
  const funds = childrenOf(general, "DatiCassaPrevidenziale").flatMap((one) => charge(one, "ImportoContributoCassa"));
  const extras = summaries.flatMap((one) => [...charge(one, "SpeseAccessorie"), ...charge(one, "Arrotondamento")]);
  const all = [...parts, ...funds, ...extras];
  const settled = settle({ currency, parts: all, hasLines: true, taxes, totals, required: ["taxes"] });
  const { payable, ...amounts } = settled.amounts;
  if (payable === undefined || payments.length === 0) return settled;
  // The listed payments are the seller's expectations, and may be incomplete.
  const written = sum(payments.map((one) => textAt(one, "ImportoPagamento")));
  if (difference(written, payable) === "0") return settled;
  const params = { check: "payable", written, computed: payable };
  return { amounts, question: { code: "totals_differ", params } };
}

const write = (number: Decimal) => roundTo(number, number.scale);
/** "?" if one of the numbers is unreadable. */
const sum = (texts: string[]) => {
  const numbers = texts.map(parseDecimal);
  return numbers.every((one) => one !== undefined) ? write(numbers.reduce(add, ZERO)) : "?";
};
const difference = (one: string, other: string) => {
  const [first, second] = [parseDecimal(one), parseDecimal(other)];
  if (!first || !second) return "?";
  const rest = subtract(first, second);
  return rest.units === 0n ? "0" : write(rest);
};
