/** Words of `draft_cancellation`, and of the contract behind a bill. */
import type { MissingInLetter } from "../letters.ts";
import type { Refusal } from "../message.ts";
import { and } from "./phrases.ts";

export type CancelForm = "letter" | "email" | "online" | "any";
export type MissingOfContract = "notice" | "term_months" | "started_on" | "renewal_months" | "notice_to";

const MISSING: Record<MissingOfContract, string> = {
  notice: "its notice period (notice)",
  term_months: "its minimum term (term_months)",
  started_on: "when it started (started_on)",
  renewal_months: "whether it renews and for how long (renewal_months)",
  notice_to: 'to which day notice is given (notice, "… to month", quarter or day)',
};

/** The facts that determine the last day to cancel. */
export const missingOfContract = (missing: readonly MissingOfContract[]): string =>
  and(missing.map((one) => MISSING[one]));

/** "a year", "6 months". */
export const span = (months: number): string =>
  months === 12 ? "a year" : months % 12 === 0 ? `${months / 12} years` : months === 1 ? "a month" : `${months} months`;
/** "another year". */
export const term = (months: number): string => `another ${span(months).replace(/^a /, "")}`;

/** The notice period as people express it: "1 months to month" is "1 month's notice to the end of a month". */
export const noticePeriod = (notice: string): string => {
  const [length, until] = notice.split(" to ");
  const [count, unit] = length!.split(" ");
  const name = unit!.replace(/s$/, "");
  const ends = until &&
    {
      term: "the end of the term",
      month: "the end of a month",
      quarter: "the end of a quarter",
      day: "any day",
    }[until];
  return `${count} ${count === "1" ? `${name}’s` : `${name}s’`} notice${ends ? ` to ${ends}` : ""}`;
};

/** What a cancellation must do by its last day. */
export const arrivesToday = (form?: CancelForm): string =>
  `it has to arrive today${
    form === "letter"
      ? ", so a letter by post comes too late: somebody has to hand it over"
      : form === "email" || form === "online"
      ? ""
      : ", so a letter by post comes too late: use an email or a website, if the contract allows it"
  }`;

/** The required form of the cancellation; empty if unknown or free. */
export const inForm = (form?: CancelForm): string =>
  form === "letter" ? " by letter" : form === "email" ? " by email" : form === "online" ? " online" : "";

export const refusals = {
  "invalid_argument.cancellation_confirmed": (
    { name, confirmed_on, ends_on }: { name: string; confirmed_on: string; ends_on?: string },
  ): Refusal => ({
    message: `The cancellation of ${name} was confirmed on ${confirmed_on}${ends_on ? `; it ends on ${ends_on}` : ""}.`,
    hint: "No letter is needed. If that is wrong, undo the change that stored the confirmation.",
  }),
  "date_out_of_range.leave_in_past": ({ date }: { date: string }): Refusal => ({
    message: `${date} has passed, so the contract can't end then.`,
    hint: "Leave leave_on out for the earliest end, or give a later last day.",
  }),
};

export const warnings = {
  "other_end": (
    { name, leave_on, ends_on, cancel_by }: { name: string; leave_on: string; ends_on: string; cancel_by: string },
  ): string =>
    `As recorded, ${name} cannot end on ${leave_on}: it can end on ${ends_on} if the cancellation arrives by ` +
    `${cancel_by}. The letter asks for ${leave_on}, or else the earliest date. Tell the person.`,
};

export const changes = {
  draft_cancellation: ({ name }: { name: string }): string => `Drafted the cancellation of ${name}`,
};

/** The blanks in a letter, and how to fill them. */
export const missingInLetter: Record<MissingInLetter, string> = {
  payee: "the company's name: update_bill, set.payee",
  address: "the company's address: contract.address",
  customer_number: "the customer number: contract.customer_number",
  sender: "the person's name and address: sender",
  ends_on: "the last day, because the term or notice is unknown: the letter asks for the earliest possible date",
};

/** The person's next step with a draft. */
export const afterDraft = (
  { name, form, cancel_by, today, isActive }: {
    name: string;
    form?: CancelForm;
    cancel_by?: string;
    today: string;
    isActive: boolean;
  },
): string =>
  `Nothing was sent. ${
    form
      ? `The contract asks for ${FORMS[form]}`
      : "The required form of the cancellation is unknown: ask (contract.form)"
  }. ${
    !cancel_by
      ? "No last day to cancel is known, so send it soon"
      : cancel_by < today
      ? `The last day for that end, ${cancel_by}, has passed`
      : cancel_by === today
      ? `Today, ${cancel_by}, is the last day for that end: ${arrivesToday(form)}`
      : `The person sends it so that it arrives by ${cancel_by}`
  }. ${
    isActive ? `${name} stays active and due until a confirmation is recorded` : "When a confirmation comes, record it"
  }: update_bill with set.contract.confirmed_on, and ends_on for the confirmed last day.`;

const FORMS: Record<CancelForm, string> = {
  letter: "a signed letter",
  email: "an email",
  online: "its website or app: paste the text there",
  any: "no special form",
};
