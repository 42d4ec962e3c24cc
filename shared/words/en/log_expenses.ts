/** Words of `log_expenses`. */
import type { Refusal } from "../message.ts";
import { and, count, names, quoted, totals } from "./phrases.ts";

export const refusals = {
  "date_out_of_range.ahead": ({ date }: { date: string }): Refusal => ({
    message: `${date} is more than a day ahead: only past payments can be logged.`,
    hint: `For a future payment use add_bill with frequency "once" and first_due "${date}".`,
  }),
  "date_out_of_range.long_ago": ({ date, years }: { date: string; years: number }): Refusal => ({
    message: `${date} is more than ${years} years ago.`,
    hint: "Check the year.",
  }),
  "invalid_argument.expense_without_name": (): Refusal => ({
    message: "An expense needs a name.",
    hint: 'Give a short label, e.g. "Lunch".',
  }),
};

export const warnings = {
  "duplicate.expenses": ({ names: skipped }: { names: string[] }): string =>
    `${names(skipped.map(quoted))} ${
      skipped.length === 1 ? "is" : "are"
    } already in the books, so nothing was written for ${skipped.length === 1 ? "it" : "them"}. ` +
    'If it really was paid twice, call again with on_duplicate "allow" and only what is missing.',
  "dated_tomorrow": ({ names: early, date }: { names: string[]; date: string }): string =>
    `${names(early)} ${early.length === 1 ? "is" : "are"} dated tomorrow, ${date}. ` +
    'If it has not been paid yet, undo this and use add_bill with frequency "once".',
  "rate_missing.of_day": ({ currencies, into }: { currencies: string[]; into: string }): string =>
    `No exchange rate from ${and(currencies)} to ${into} is known for the day, ` +
    `so totals in ${into} leave the amount out and say so.`,
};

interface Logged {
  count: number;
  /** The first few. */
  written: { name: string; is_refund: boolean }[];
  totals_by_currency: Record<string, string>;
}

/** Summaries in the list of recent changes. */
export const changes = {
  log_expenses({ count: all, written, totals_by_currency }: Logged): string {
    const first = written.map(({ name, is_refund }) => is_refund ? `refund of ${name}` : name);
    // All may already have been in the books, and only a category was created.
    if (all === 0) return "Logged nothing new";
    if (all === 1) return `Logged ${first[0]}, ${totals(totals_by_currency)}`;
    return `Logged ${count(all, "expense")}: ${names(first, { count: all })}`;
  },
};
