/** What a text without the right form should have been: by the form that its field asks for, and by what was sent instead. */
import { decimalSignOf, readMoney, toDecimal } from "../import/money_text.ts";
import { type JsonSchema, PATTERNS } from "./schema.ts";

const FORMS: Record<string, string> = {
  [PATTERNS.date]: "YYYY-MM-DD, or today, yesterday or tomorrow.",
  [PATTERNS.amount]: 'A positive decimal in major units, as a string: "14.50".',
  [PATTERNS.currency]: "A three-letter ISO 4217 code in capitals: EUR.",
};

/** What takes the ids that a tool does not. */
const IDS: Record<string, string> = {
  pay:
    'This is the payment of a bill. update_bill takes it back (occurrence action "reopen"), as undo_change does; its category is that of the bill.',
  bill: "This is a bill: see update_bill, and delete_records for one bill at a time.",
  exp: "This is an expense: see update_expenses and delete_records.",
};

/** @param field what the text is judged by; @param siblings the names of the fields beside it. */
export function formHint(field: JsonSchema | undefined, sent: unknown, siblings: string[] = []): string | undefined {
  const pattern = String(field?.pattern ?? "");
  const kinds = /^\^\(?([a-z|]+)\)?_/.exec(pattern)?.[1]?.split("|");
  if (!kinds) return (pattern === PATTERNS.amount && amountHint(sent, siblings)) || FORMS[pattern];
  const other = /^([a-z]+)_[0-9a-z]{8,32}$/.exec(String(sent))?.[1] ?? "";
  const words = kinds.includes(other) ? undefined : IDS[other];
  return `${words ? `${words} ` : ""}Ids start with ${kinds.join("_ or ")}_; take them from an earlier answer.`;
}

/** An amount as a person writes it, the way it is to be sent. */
function amountHint(sent: unknown, siblings: string[]): string | undefined {
  const money = typeof sent === "string" ? readMoney(sent) : undefined;
  if (!money) return undefined;
  const sign = decimalSignOf(money.digits);
  const [point, comma] = [toDecimal(money.digits, "."), toDecimal(money.digits, ",")];
  const plain = sign === "," ? comma : point;
  if (plain === undefined) return undefined;
  const isOpen = sign === undefined && comma !== undefined && point !== comma;
  return [
    isOpen
      ? `Ask whether "${point}" or "${comma}" is meant: a point for decimals, and nothing for thousands.`
      : `Write it as "${plain}": a point for decimals, nothing for thousands.`,
    money.currency && "The currency goes into the field currency.",
    money.isNegative &&
    (siblings.includes("is_refund")
      ? "Money that came back is a positive amount with is_refund true."
      : "An amount is never negative here."),
  ].filter(Boolean).join(" ");
}
