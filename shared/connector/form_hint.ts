/** Explains a badly formed text argument: the expected format, and a guess based on the sent text. */
import { decimalSignOf, readMoney, toDecimal } from "../import/money_text.ts";
import { type JsonSchema, PATTERNS } from "./schema.ts";
import { possibleDays } from "./understand.ts";

export type FormHint =
  | { form: "currency" | "url" }
  /** `days` are the possible readings of the text. */
  | { form: "date"; days?: string[] }
  | { form: "amount"; sent?: SentAmount }
  /** `sent` is the actual kind of the sent id. */
  | { form: "id"; kinds: string[]; sent?: string }
  /** The description from the contract. */
  | { form: "described"; description: string };

/** An amount as a person writes it, and its correct form: `plain`, plus `other` when the decimal sign is ambiguous. */
export interface SentAmount {
  plain: string;
  other?: string;
  /** The field for the currency in the text. */
  currency?: "field" | "nowhere";
  /** The meaning of a minus sign in this field. */
  negative?: "refund" | "never";
}

/** @param field schema of the field; @param siblings names of the other fields. */
export function formHint(field: JsonSchema | undefined, sent: unknown, siblings: string[] = []): FormHint | undefined {
  const pattern = String(field?.pattern ?? "");
  const kinds = /^\^\(?([a-z|]+)\)?_/.exec(pattern)?.[1]?.split("|");
  if (kinds) {
    const other = /^([a-z]+)_[0-9a-z]{8,32}$/.exec(String(sent))?.[1];
    return { form: "id", kinds, ...(other && !kinds.includes(other) && { sent: other }) };
  }
  switch (pattern) {
    case PATTERNS.amount: {
      const amount = readSent(sent, siblings);
      return { form: "amount", ...(amount && { sent: amount }) };
    }
    case PATTERNS.date:
      return { form: "date", ...(typeof sent === "string" && { days: possibleDays(sent) }) };
    case PATTERNS.currency:
      return { form: "currency" };
    case PATTERNS.url:
      return { form: "url" };
  }
}

function readSent(sent: unknown, siblings: string[]): SentAmount | undefined {
  const money = typeof sent === "string" ? readMoney(sent) : undefined;
  if (!money) return undefined;
  const sign = decimalSignOf(money.digits);
  const [point, comma] = [toDecimal(money.digits, "."), toDecimal(money.digits, ",")];
  const plain = sign === "," ? comma : point;
  if (plain === undefined) return undefined;
  const isOpen = sign === undefined && comma !== undefined && point !== comma;
  return {
    plain,
    ...(isOpen && { other: comma }),
    ...(money.currency && { currency: siblings.includes("currency") ? "field" : "nowhere" }),
    ...(money.isNegative && { negative: siblings.includes("is_refund") ? "refund" : "never" }),
  };
}
