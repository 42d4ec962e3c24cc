/** The effects of a change on records, before and after. */
import { type CancelForm, inForm, noticePeriod, span } from "./draft_cancellation.ts";
import { and } from "./phrases.ts";
import { monthDays } from "./schedule.ts";

/** A member who bears part of a cost; a former member has no address. */
interface Bearer {
  member?: string | null;
  weight: number;
}

const names = (between: readonly Bearer[]): string => and(between.map(({ member }) => member ?? FORMER_MEMBER));
const FORMER_MEMBER = "a former member";

export const effects = {
  /** Added after its name. */
  verbs: { added: "added", deleted: "deleted", changed: "changed" },
  yes: "yes",
  no: "no",
  nothing: "nothing",
  nobody: FORMER_MEMBER,
  uncategorized: "Uncategorized",
  percent: (percent: number): string => `${percent}%`,
  monthDays,
  /** How a cost is split. */
  shared: {
    equally: (between: readonly Bearer[]): string => `equally between ${names(between)}`,
    shares: (between: readonly Bearer[]): string =>
      `by shares between ${and(between.map(({ member, weight }) => `${member ?? FORMER_MEMBER} (${weight})`))}`,
    amounts: (between: readonly Bearer[]): string => `by amounts between ${names(between)}`,
  },
  /** A fact of a contract; `shown` is its value in the reader's format. */
  contract: (key: string, value: string, shown: string): string => CONTRACT[key]?.(value) ?? `${NAMED[key]} ${shown}`,
  /** Its form in a line of text: "Lunch changed: amount 12.00 EUR → 14.50 EUR, date …". */
  line: ({ what, verb, fields }: { what: string; verb: string; fields: string[] }): string =>
    fields.length > 0 ? `${what} ${verb}: ${fields.join(", ")}` : `${what} ${verb}`,
  field: ({ label, before, after }: { label: string; before?: string; after?: string }): string =>
    before !== undefined && after !== undefined ? `${label} ${before} → ${after}` : `${label} ${before ?? after ?? ""}`,
  more: (count: number, shown = `${count}`): string => count === 1 ? "and one more" : `and ${shown} more`,
  before: "Before",
  after: "After",
};

/** Facts of a contract that follow a word. */
const NAMED: Record<string, string> = {
  started_on: "started on",
  customer_number: "customer number",
  address: "address",
  drafted_on: "letter drafted on",
  leave_on: "asked to end on",
  confirmed_on: "cancellation confirmed on",
};

const CONTRACT: Record<string, (value: string) => string> = {
  term_months: (months) => months === "0" ? "no minimum term" : `minimum term of ${span(Number(months))}`,
  renewal_months: (months) => months === "0" ? "goes on until cancelled" : `renews for ${span(Number(months))}`,
  notice: noticePeriod,
  form: (form) => `to be cancelled${inForm(form as CancelForm) || " in any form"}`,
};
