/**
 * The labeled values in a text with missing facts. A person who confirms a value also confirms its label, which finds
 * the value in the seller's next document.
 */
import type { DateOrder } from "../../import/date_text.ts";
import { cut, shorten } from "../../import/shorten.ts";
import { unique } from "../fields.ts";
import type { Cell, Line } from "./lines.ts";
import { type Amount, amountsIn, amountText, dayAt, isoOf, plainText } from "./values.ts";

export interface Place {
  kind: "amount" | "day" | "number";
  /** As the document writes it, to show it. */
  label: string;
  /** The label's letters, and the value's place: "zu uberweisen:beside". Each label occurs once in the document. */
  key: string;
  /** 84.20, 2026-11-26, or the number. */
  value: string;
  currency?: string;
  /** No amount in the document is larger. */
  is_largest?: true;
}

export interface Layout {
  /** Identifies the seller besides its name. */
  iban?: string;
  tax_id?: string;
  places: Place[];
  /** Texts that may contain the payee's name, if it is missing. Only the database compares them. */
  names?: string[];
}

/** More labels than an invoice has. Cutting a longer list would make a repeated label look unique. */
const MOST_PLACES = 80;
const LONGEST_LABEL = 60;

/** @returns undefined for a text with too many labeled values. */
export function placesOf(lines: Line[], order: DateOrder | undefined): Place[] | undefined {
  const amounts = lines.flat().flatMap(({ text }) => amountsIn(text));
  const currencies = unique(amounts.flatMap(({ currency }) => currency ?? []));
  const largest = amounts.reduce((most, { minor }) => minor !== null && minor > most ? minor : most, 0n);
  const only = currencies.length === 1 && currencies[0]!.length === 3 ? currencies[0] : undefined;
  const seen = new Map<string, number>();
  const places: Place[] = [];
  for (const [at, line] of lines.entries()) {
    for (const [nth, cell] of line.entries()) {
      const { label: own, value } = splitCell(cell.text, order);
      const name = labelOf(own);
      if (name) seen.set(name, (seen.get(name) ?? 0) + 1);
      if (!value) continue;
      const labels: [string, string][] = own.trim() !== ""
        ? [[own, "beside"]]
        : [[line[nth - 1]?.text ?? "", "beside"], [above(lines, { at, cell })?.text ?? "", "below"]];
      for (const [text, where] of labels) {
        const letters = splitCell(text, order).value && own.trim() === "" ? undefined : labelOf(text);
        if (!letters) continue;
        const place = {
          label: shorten(text.replace(/[\s:.]+$/, "").trim(), LONGEST_LABEL),
          key: `${letters}:${where}`,
        };
        if (typeof value === "string") places.push({ kind: "number", ...place, value });
        else if ("day" in value) places.push({ kind: "day", ...place, value: value.day });
        else {
          const currency = value.currency?.length === 3 ? value.currency : value.currency ? undefined : only;
          places.push({
            kind: "amount",
            ...place,
            value: amountText(value.minor!, value.decimals),
            ...(currency && { currency }),
            ...(value.minor === largest && { is_largest: true }),
          });
        }
        if (places.length > MOST_PLACES) return undefined;
      }
    }
  }
  return places.filter(({ key }) => seen.get(key.slice(0, key.lastIndexOf(":"))) === 1);
}

type Value = string | Amount | { day: string };

/** "Zu überweisen: 84,20 €" */
function splitCell(text: string, order: DateOrder | undefined): { label: string; value?: Value } {
  const [amount, ...others] = amountsIn(text);
  if (amount && others.length === 0 && amount.minor !== null && text.slice(amount.end).trim() === "") {
    return { label: text.slice(0, amount.at), value: amount };
  }
  for (const { index } of [...text.matchAll(/(?<!\S)\S/g)].slice(0, 12)) {
    const rest = text.slice(index).trim();
    if ((rest.match(/\d+/g) ?? []).length > 3 || !/\d$/.test(rest)) continue;
    const found = dayAt(rest);
    const day = found && isoOf(found, order);
    if (day) return { label: text.slice(0, index), value: { day } };
  }
  const [, label, number] = /^(.*?[:#]\s*)?([A-Z\d][A-Z\d/._-]{2,39})$/iu.exec(text.trim()) ?? [];
  return number && /\d/.test(number) && !dayAt(number) && !amount
    ? { label: label ?? "", value: number }
    : { label: text };
}

/** Letters only: a label with a number changes from document to document. */
function labelOf(text: string): string | undefined {
  if (/\d/.test(text) || text.length > LONGEST_LABEL) return undefined;
  const letters = plainText(text).replace(/[^\p{L}]+/gu, " ").trim();
  return letters.length >= 3 ? letters : undefined;
}

/** The cell above, if it belongs to the column. */
const above = (lines: Line[], { at, cell }: { at: number; cell: Cell }): Cell | undefined =>
  lines[at - 1]?.find((one) => one.x < cell.end && one.end > cell.x);

const TAX_ID =
  /(?<![A-Z\d])(?:DE\d{9}|ATU\d{8}|BE[01]\d{9}|ES[A-Z\d]\d{7}[A-Z\d]|FR[A-Z\d]{2}\d{9}|GB\d{9}|IT\d{11}|LU\d{8}|NL\d{9}B\d{2}|CHE-?\d{3}\.?\d{3}\.?\d{3})(?![A-Z\d])/g;
const CUSTOMERS = /\b(?:ihre|kunden?|customer|your|client|votre|cliente|vostra|su|klant|uw)\b/;

/** The only VAT id in a text, apart from one labeled as the customer's. */
export function taxIdOf(text: string[]): string | undefined {
  const found = unique(
    text.filter((line) => !CUSTOMERS.test(plainText(cut(line, 300)))).flatMap((line) => line.match(TAX_ID) ?? []),
  );
  return found.length === 1 ? found[0] : undefined;
}
