/** Schema violations in arguments, with valid values. Field names are the contract's. */
import type { FormHint, SentAmount } from "../../connector/form_hint.ts";
import type { Limit, Refusal, Unit } from "../message.ts";
import { count, LOG_INCOME, PRIVATE_CATEGORY, quoted } from "./phrases.ts";

interface Problem {
  /** Path of the field, `items[0].amount`; absent for a problem with the arguments as a whole. */
  subject?: string;
  hint?: FormHint;
}

const PRIVATE = /^(is_?)?(private|hidden|secret|visibility|confidential|visible_to)$/i;
const PAID_BACK = /reimburse(d|ment)_?amount|amount_?reimbursed|amount_?paid_?back/i;

export const refusals = {
  "invalid_argument.repeated_item": (problem: Problem): Refusal => refusal("is a duplicate", problem),
  "invalid_argument.not_one_of": (
    { options, sent, ...problem }: Problem & { options: string[]; sent?: unknown },
  ): Refusal => ({
    ...refusal(`must be one of: ${options.join(", ")}`, problem),
    ...(options.includes("bill_payment") && /^(savings?|transfers?)$/i.test(`${sent}`) && {
      hint: "Transfers between own accounts are not spending; reconcile has the totals of an account.",
    }),
    ...(options.includes("bill_payment") && sent === "income" && {
      hint: "Change income by its ids: list_expenses with kind income finds them.",
    }),
  }),
  "invalid_argument.null": ({ subject, empty }: Problem & { empty?: string }): Refusal => ({
    ...refusal("must not be null", { subject }),
    hint: empty
      ? `Leave the field out to keep its value, or send ${empty} to clear it.`
      : "Leave out fields that have no value.",
  }),
  "invalid_argument.required": (problem: Problem): Refusal => refusal("is required", problem),
  "invalid_argument.wrong_type": ({ type, ...problem }: Problem & { type: string }): Refusal =>
    refusal(`must be ${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`, problem),
  "invalid_argument.unknown_fields": (
    { subject, unknown, known }: Problem & { unknown: string[]; known: string[] },
  ): Refusal => ({
    message: `Unknown ${unknown.length === 1 ? "argument" : "arguments"} ${unknown.map(quoted).join(", ")}${
      subject ? ` in ${subject}` : ""
    }.`,
    hint: unknown.some((name) => PAID_BACK.test(name)) && known.includes("split")
      ? 'Make the part that came back a separate expense: split [{"amount": "<part>"}, {}], then reimbursement ' +
        '"done" for the id of that part.'
      : unknown.some((name) => PRIVATE.test(name))
      ? PRIVATE_CATEGORY
      : `Known fields: ${known.join(", ")}.`,
  }),
  "invalid_argument.wrong_form": (problem: Problem): Refusal => refusal("has the wrong format", problem),
  "invalid_argument.wrong_length": ({ bound, value, unit, ...problem }: Problem & Limit & { unit: Unit }): Refusal =>
    refusal(`must have at ${bound} ${count(value, unit)}`, problem),
  "invalid_argument.out_of_bounds": ({ bound, value, is_inclusive, ...problem }: Problem & Limit): Refusal =>
    refusal(
      is_inclusive ? `must be at ${bound} ${value}` : `must be ${bound === "least" ? "more" : "less"} than ${value}`,
      problem,
    ),
  "invalid_argument.not_valid": (problem: Problem): Refusal => refusal("is not valid", problem),
};

function refusal(what: string, { subject, hint }: Problem): Refusal {
  return { message: `${subject ?? "The arguments"} ${what}.`, ...(hint && { hint: form(hint) }) };
}

function form(hint: FormHint): string {
  switch (hint.form) {
    case "described":
      return hint.description;
    case "date":
      return hint.days?.length
        ? `Ask which day is meant, and write it as ${hint.days.map(quoted).join(" or ")}.`
        : "YYYY-MM-DD, or today, yesterday or tomorrow.";
    case "currency":
      return "A three-letter ISO 4217 code in capitals: EUR.";
    case "url":
      return "The whole address, https://…, without a name or password in it.";
    case "amount":
      return hint.sent ? amount(hint.sent) : 'A positive decimal in major units, as a string: "14.50".';
    case "id":
      return [
        IDS.get(hint.sent ?? ""),
        `Ids start with ${hint.kinds.join("_ or ")}_; take them from an earlier answer.`,
      ].filter(Boolean).join(" ");
  }
}

/** The tools that accept the ids that this one rejects. */
const IDS = new Map([
  [
    "pay",
    "This is the payment of a bill. mark_bill_paid with its due_on corrects its amount, date, payer or note; update_bill " +
    '(occurrence action "reopen") removes it. Its category is that of the bill.',
  ],
  ["bill", "This is a bill: see update_bill, and delete_records for one bill at a time."],
  ["exp", "This is an expense: see update_expenses and delete_records."],
  ["inc", "This is income: see update_expenses and delete_records."],
]);

const amount = ({ plain, other, currency, negative }: SentAmount): string =>
  [
    other
      ? `Ask whether "${plain}" or "${other}" is meant: a point for decimals, and nothing for thousands.`
      : negative === "refund"
      ? `If a seller paid it back, send "${plain}" with is_refund true. ${LOG_INCOME}`
      : `Write it as "${plain}": a point for decimals, nothing for thousands.`,
    currency === "field" && "The currency goes into the field currency.",
    currency === "nowhere" && "Leave the currency out.",
    negative === "never" && "An amount is never negative here.",
  ].filter(Boolean).join(" ");
