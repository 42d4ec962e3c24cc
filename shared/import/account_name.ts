/** Names an account from its number in the file, and its bank if known: "DKB 2051", "DE02…2051". */
import { isCode } from "./money_text.ts";
import { cut, oneLine, shorten } from "./shorten.ts";
import type { Account } from "./statement.ts";

/** Longer texts are neither numbers nor names of accounts. */
const MAX_NUMBER = 60;
/** Leaves room for the end of a number in an account's name. */
const MAX_NAME = 50;
/** The digits that banks leave readable. */
const SHOWN = 4;

/** @param found.bank or the bank's name for the account */
export function describeAccount(
  { number = "", bank = "", isCard, currency = "" }: {
    number?: string | undefined;
    bank?: string | undefined;
    isCard: boolean;
    currency?: string | undefined;
  },
): Account | undefined {
  // Exports of one bank differ in their spaces.
  const written = number.slice(0, 2 * MAX_NUMBER).replace(/\s+/g, "").slice(0, MAX_NUMBER);
  const known = shorten(oneLine(cut(bank, 2 * MAX_NAME)), MAX_NAME);
  const plain = written.replace(/[^\p{L}\p{N}]/gu, "");
  const end = plain.slice(-SHOWN);
  const unnamed = isIban(written) ? `${plain.slice(0, SHOWN)}…${end}` : end && `…${end}`;
  const name = known && end && !known.includes(end) ? `${known} ${end}` : known || unnamed;
  if (!name) return undefined;
  return {
    ...(plain && { number: written }),
    name,
    kind: isCard ? "card" : "account",
    ...(isCode(currency) && { currency }),
  };
}

/** Has the form of an IBAN, with or without spaces; some banks mask its middle. */
export const isIban = (text: string): boolean =>
  text.length <= MAX_NUMBER && /^[A-Z]{2}\d{2}[A-Z\d*•xX]{10,30}$/.test(text.replaceAll(" ", ""));

/** "1234 •••• •••• 5678", "XXXX-1234", "*1234". */
export const isMasked = (text: string): boolean =>
  text.length <= MAX_NUMBER && /[*•·xX…]/.test(text) && /^[\d*•·xX….\- ]+$/.test(text) && /\d{3,5}$/.test(text);
