/** Words of `list_expenses` and `summarize_spending`, which share their filter. */
import type { Refusal } from "../message.ts";
import { names } from "./phrases.ts";

interface Period {
  from: string;
  to: string;
}

export const refusals = {
  "invalid_argument.period_backwards": ({ from, to }: Period): Refusal => ({
    message: `The period ends (${to}) before it begins (${from}).`,
    hint: "Give from as the earlier day.",
  }),
  "invalid_argument.amounts_backwards": (): Refusal => ({
    message: "The smallest amount is larger than the largest.",
    hint: "Give min_amount as the smaller one.",
  }),
  "invalid_argument.period_and_dates": (): Refusal => ({
    message: "Both a period and dates are given.",
    hint: "Give either period, or from and to.",
  }),
  "date_out_of_range.period_too_long": ({ from, to, years }: Period & { years: number }): Refusal => ({
    message: `${from} to ${to} is longer than ${years} years.`,
    hint: `Ask for at most ${years} years at a time.`,
  }),
  "invalid_argument.too_many_rows": ({ count }: { count: number }): Refusal => ({
    message: `That would be ${count} rows.`,
    hint: "Group by a longer interval, use a shorter period, or lower top.",
  }),
};

export const warnings = {
  "books_begin": ({ on, from, to }: Period & { on: string }): string =>
    `The books begin on ${on}, so previous is incomplete for ${from} to ${to}, and no change is given.`,
  "period_running": ({ until, from, to }: Period & { until: string }): string =>
    `This period runs until ${until}; previous covers the same number of days of the earlier one, ${from} to ${to}.`,
  "tags_overlap": (): string => "Some payments have several tags and count under each; the total counts them once.",
  "rate_missing.of_payments": ({ into }: { into: string }): string =>
    `No exchange rate to ${into} is known for some payments, so they are in no total; ` +
    "those of this period are listed in unconverted.",
  "amount_missing.to_come": ({ names: bills }: { names: string[] }): string =>
    `The amounts of ${names(bills)}, which are still upcoming, are not known yet.`,
};

/** Which exchange rates are used. */
export const rateRule = "Each payment at the rate of its day, or the last one before it, at most 7 days old.";
