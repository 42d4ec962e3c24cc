/**
 * Problems with arguments that only the calendar, the currencies or the database can detect, and texts that all tools
 * share.
 */
import type { Money, Refusal } from "../message.ts";
import { money, or, PRIVATE_CATEGORY, quoted } from "./phrases.ts";

interface Category {
  name: string;
  make_by?: "create_missing_categories" | "update_settings";
  /** Whether the person wants to hide it. A category that everybody sees can't replace it. */
  is_private?: true;
  details?: { suggestions?: readonly string[]; categories?: readonly string[] };
}

/** Names of categories that suggest a wish to hide expenses. */
const PRIVATE =
  /^(private|secret|hidden|confidential|privat|geheim|vertraulich|privé|confidentiel|privado|secreto|privato|segreto)$/i;

export const refusals = {
  "idempotency_conflict": (): Refusal => ({
    message:
      "This idempotency_key was already used for a different request in the last 24 hours, so nothing was written.",
    hint: "Use a new key for a new request, or leave it out.",
  }),
  "busy": (): Refusal => ({
    message: "Another change to the same books is still in progress, so nothing was written.",
    hint: "Make the same call again in a moment.",
  }),
  "invalid_argument.tags_too_many": ({ count, most }: { count: number; most: number }): Refusal => ({
    message: `That would make ${count} tags; an expense can have at most ${most}.`,
    hint: "Leave some tags out.",
  }),
  "date_out_of_range.not_a_date": ({ value }: { value: string }): Refusal => ({
    message: `${quoted(value)} is not a date between 1990-01-01 and 2099-12-31.`,
    hint: "Give YYYY-MM-DD, or today, yesterday or tomorrow.",
  }),
  "date_out_of_range.no_such_day": ({ value }: { value: string }): Refusal => ({
    message: `${value} is not a day in the calendar.`,
    hint: "Check the day and the month.",
  }),
  "date_out_of_range.which_year": ({ days }: { days: string[] }): Refusal => ({
    message: "The year is missing.",
    hint: `Ask which day is meant, and write it as ${days.map(quoted).join(" or ")}.`,
  }),
  "date_out_of_range.which_weekday": ({ days }: { days: string[] }): Refusal => ({
    message: "That weekday is today.",
    hint: `Ask which day is meant, and write it as ${days.map(quoted).join(" or ")}.`,
  }),
  "currency_unknown": ({ currency }: { currency: string }): Refusal => ({
    message: `${quoted(currency)} is not a currency in use.`,
    hint: "Give an ISO 4217 code such as EUR, USD or INR.",
  }),
  "invalid_argument.not_an_amount": ({ value }: { value: string }): Refusal => ({
    message: `${quoted(value)} is not an amount.`,
    hint: 'Give a positive decimal in major units, e.g. "14.50".',
  }),
  "invalid_argument.not_a_link": ({ value }: { value: string }): Refusal => ({
    message: `${quoted(value)} is not a link.`,
    hint: "Give the whole address of the receipt or order: https://….",
  }),
  "amount_precision": (
    { amount, currency, decimals }: { amount: string; currency: string; decimals: number },
  ): Refusal => ({
    message: `${amount} has too many decimals: ${currency} has ${decimals === 0 ? "none" : decimals}.`,
    hint: "Amounts are never rounded, and a point starts the decimals: ask for the exact amount, and send it without " +
      "separators of thousands.",
  }),
  "invalid_argument.amount_zero": (): Refusal => ({
    message: "An amount must be more than zero.",
    hint:
      'Leave out what cost nothing. To skip a due date that costs nothing, use update_bill with occurrence action "skip".',
  }),
  "invalid_argument.amount_too_large": (amount: Money): Refusal => ({
    message: `${money(amount)} is more than this service can store.`,
  }),
  "invalid_argument.cursor_of_another_list": (): Refusal => ({
    message: "This cursor does not belong to this list.",
    hint:
      "Pass next_cursor exactly as received, with the same filter; without cursor the list starts from the beginning.",
  }),
  "category_not_found": ({ name, make_by, is_private, details }: Category): Refusal => ({
    message: `There is no category called ${quoted(name)}.`,
    hint: is_private || PRIVATE.test(name) ? PRIVATE_CATEGORY : [
      details?.suggestions?.length
        ? "Use one of details.suggestions."
        : details?.categories?.length
        ? "details.categories has the existing ones."
        : 'get_context with include ["categories"] lists the existing ones.',
      make_by === "create_missing_categories" && "Or create it: create_missing_categories true.",
      make_by === "update_settings" &&
      `Or create it first: update_settings with category {"action": "create", "name": ${JSON.stringify(name)}}.`,
    ].filter(Boolean).join(" "),
  }),
  "category_not_found.sentence": ({ name, details }: Category): Refusal => {
    const known = details?.suggestions?.length ? details.suggestions : details?.categories;
    return {
      message: `${quoted(name)} is a sentence, not the name of a category.`,
      hint: known?.length
        ? `Send the name alone, such as ${or(known.map((one) => quoted(one)))}.`
        : 'Send the name alone; get_context with include ["categories"] lists the names.',
    };
  },
  "category_not_found.archived": ({ name }: { name: string }): Refusal => ({
    message: `The category ${name} is archived.`,
    hint: `Ask whether to reactivate it (update_settings with category {"action": "create", "name": ${
      JSON.stringify(name)
    }}) or to use another one.`,
  }),
};

export const warnings = {
  "dry_run": (): string => "This is a preview; nothing was written.",
};
