/** Whether an e-invoice requests money or returns it. */
import type { DocumentFacts } from "../facts.ts";

/** UNTDID 1001. */
const CREDIT_NOTES = new Set("81 83 261 262 296 308 381 396 420 458 502 503 532".split(" "));
const PROPOSALS = new Set("310 325".split(" "));

export const kindOf = (type: string, isCreditNote = false): DocumentFacts["kind"] =>
  isCreditNote || CREDIT_NOTES.has(type) ? "credit_note" : PROPOSALS.has(type) ? "other" : "invoice";

const turn = (amount: string | undefined) =>
  amount === undefined || /^[0.]+$/.test(amount) ? amount : amount.startsWith("-") ? amount.slice(1) : `-${amount}`;

/**
 * An invoice with a negative total is a credit note. A credit note with a negative total either has a wrong sign or
 * asks for money, so the reader omits its amounts.
 */
export function withSign(facts: DocumentFacts): DocumentFacts {
  const { net, taxes, gross, payable, ...others } = facts;
  if (!gross?.startsWith("-")) return facts;
  if (facts.kind === "credit_note") {
    return { ...others, questions: [...facts.questions, { code: "credit_note_negative", params: { gross } }] };
  }
  return {
    ...facts,
    kind: "credit_note",
    net: turn(net)!,
    ...(taxes && { taxes: taxes.map(({ rate, net, tax }) => ({ rate, net: turn(net)!, tax: turn(tax)! })) }),
    gross: turn(gross)!,
    payable: turn(payable)!,
  };
}
