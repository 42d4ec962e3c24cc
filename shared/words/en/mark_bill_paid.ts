/** Words of `mark_bill_paid`. */
import { DATA_FORMAT, type EffectFormat } from "../effect_format.ts";
import type { Money, Refusal } from "../message.ts";
import { awaited } from "./log_expenses.ts";
import { count, money, names, quoted } from "./phrases.ts";

interface Dated {
  name: string;
  due_on: string;
}

/** A payment that the books already contain. */
type Paid = Money & { paid_on: string; by?: string; is_automatic?: boolean; parts?: number };

/** The next step after the payee took the money twice. */
const chargedTwice = (payee: string): string =>
  `If it was charged a second time, record that with log_expenses, payee ${quoted(payee)} and on_duplicate "allow".`;

/** "by ben@example.com on 2026-11-01" */
const payer = ({ paid_on, by, is_automatic, parts }: Omit<Paid, keyof Money>): string =>
  `${parts ? `in ${parts} payments, the last ` : ""}${
    is_automatic ? "automatically" : `by ${by ?? "a former member"}`
  } on ${paid_on}`;

/** How to correct the payments for a date. */
const correcting = (due_on: string, { parts }: Paid): string =>
  parts
    ? `To correct the recorded payments, reopen that date (update_bill with occurrence {"due_on": "${due_on}", "action": "reopen"}) and pay it ` +
      "again, or undo the wrong part."
    : `To correct the recorded payment, call again with due_on "${due_on}" and the right amount or paid_on.`;

export const refusals = {
  "invalid_argument.id_and_name_differ": ({ name, bill_name }: { name: string; bill_name: string }): Refusal => ({
    message: `The bill_id is that of ${name}, but the bill_name is ${quoted(bill_name)}. Nothing was paid.`,
    hint: "Ask which one was paid, and give only its bill_id.",
  }),
  "invalid_argument.bill_not_named": (): Refusal => ({
    message: "It is not clear which bill was paid.",
    hint: "Give bill_id or bill_name.",
  }),
  "not_found.bill_name": (
    { bill_name, organization, details }: {
      bill_name: string;
      organization: string;
      details: { suggestions: string[]; bills?: unknown[]; bill_count?: number };
    },
  ): Refusal => ({
    message: `There is no bill called ${quoted(bill_name)} in ${organization}.`,
    hint: `${
      details.suggestions.length > 0
        ? "Use one of details.suggestions."
        : details.bills
        ? `details.bills names ${
          details.bill_count ? `${details.bills.length} of the ${details.bill_count}` : "all"
        } bills, perhaps this one in another language. Ask the user which one is meant.`
        : "Find the bill with list_bills."
    } A new bill needs add_bill first.`,
  }),
  "ambiguous_name": ({ count, bill_name }: { count: number; bill_name: string }): Refusal => ({
    message: `${count} bills match ${quoted(bill_name)}.`,
    hint: "Ask which one is meant and call again with its bill_id.",
  }),
  "invalid_argument.not_due": (
    { name, date, details }: { name: string; date: string; details: { open_dates: string[] } },
  ): Refusal => ({
    message: `${name} is not due on ${date}.`,
    hint: details.open_dates.length === 0
      ? "It has no open dates."
      : `Give one of its open dates: ${details.open_dates.join(", ")}.`,
  }),
  "invalid_argument.skipped": ({ name, due_on }: Dated): Refusal => ({
    message: `${name} was skipped on ${due_on}, so there is nothing to pay for that day.`,
    hint: 'If it was paid after all, reopen that date first (update_bill, occurrence action "reopen").',
  }),
  "already_paid.date": ({ name, due_on, payment, payee }: Dated & { payment: Paid; payee: string }): Refusal => ({
    message: `${name} due ${due_on} is already recorded as paid: ${money(payment)} ${payer(payment)}.`,
    hint:
      `If that is this payment, there is nothing to do. ${chargedTwice(payee)} ${
        correcting(due_on, payment)
      } For another date give its ` +
      "due_on.",
  }),
  "already_paid.in_parts": ({ name, due_on, payment }: Dated & { payment: Paid }): Refusal => ({
    message: `${name} due ${due_on} was paid ${payer(payment)}, so it is not clear which of them to correct.`,
    hint: correcting(due_on, payment),
  }),
  "already_paid.just_now": (
    { name, due_on, payment, next_due, payee }: Dated & { payment: Paid; next_due: string; payee: string },
  ): Refusal => ({
    message: `${money(payment)} for ${name} due ${due_on} is already recorded: paid ${payer(payment)}.`,
    hint: due_on === next_due
      ? `If this is another payment for it, call again with due_on "${next_due}".`
      : `${chargedTwice(payee)} If ${next_due} was paid as well, call again with due_on "${next_due}". ${
        correcting(due_on, payment)
      }`,
  }),
  "already_paid.until_next": (
    { name, due_on, payment, next_due, payee }: Dated & { payment: Paid; next_due: string; payee: string },
  ): Refusal => ({
    message: `${name} due ${due_on} was paid ${payer(payment)}; the next date is ${next_due}. Nothing was written.`,
    hint: `Tell the user. ${chargedTwice(payee)} ${correcting(due_on, payment)} ` +
      `If ${next_due} was paid ahead of time, call again with due_on "${next_due}" or advance true.`,
  }),
  "already_paid.in_advance": (
    { name, due_on, payment, next_due }: Dated & { payment: Paid; next_due: string },
  ): Refusal => ({
    message: `${name} was already paid ahead of time, for ${due_on}, ${payer(payment)}. Nothing was written.`,
    hint: `If ${next_due} was paid as well, call again with due_on "${next_due}".`,
  }),
  "not_due": ({ name, details: { next_due } }: { name: string; details: { next_due: string } }): Refusal => ({
    message: `${name} is not due yet: its next date is ${next_due}. Nothing was written.`,
    hint: `If that date was paid ahead of time, call again with due_on "${next_due}" or advance true.`,
  }),
  "invalid_argument.not_in_advance": ({ name, due_on }: Dated): Refusal => ({
    message: `${name} due ${due_on} is still open, so it is not clear which date was paid.`,
    hint: `For ${due_on} leave advance out; for another date give its due_on.`,
  }),
  "date_out_of_range.far_from_due": (
    { name, due_on, paid_on, days }: Dated & { paid_on: string; days: number },
  ): Refusal => ({
    message: `${name} due ${due_on} would be paid on ${paid_on}, ${count(days, "day")} ${
      paid_on < due_on ? "before" : "after"
    } that.`,
    hint: `Check the year. If it is right, call again with due_on "${due_on}", paid_on "${paid_on}" and confirm_days ` +
      `${days}.`,
  }),
  "already_paid.all": ({ name, payee }: { name: string; payee: string }): Refusal => ({
    message: `${name} is fully paid.`,
    hint: `If that is this payment, there is nothing to do. ${chargedTwice(payee)}`,
  }),
  "invalid_argument.bill_inactive": ({ name, status }: { name: string; status: string }): Refusal => ({
    message: `${name} is ${status} and has no open dates.`,
    hint: "To pay it again make it active first (update_bill).",
  }),
  "invalid_argument.amount_unknown": ({ name, due_on }: Dated): Refusal => ({
    message: `The amount of ${name} for ${due_on} is not known yet.`,
    hint: "Ask for the amount and give it.",
  }),
  "overpayment": (
    { name, due_on, remaining, whole, currency }: Dated & { remaining: string; whole: string; currency: string },
  ): Refusal => ({
    message: `Only ${money({ amount: remaining, currency })} of ${name} remains to be paid for ${due_on}.`,
    hint:
      `If it really cost ${
        money({ amount: whole, currency })
      } this time, call update_bill first with occurrence {"due_on": "${due_on}", ` +
      `"action": "set_amount", "amount": "${whole}"}; if the price has changed for good, with set {"amount": "${whole}"} ` +
      `and apply_from "${due_on}". Then pay it without amount. If it was a typo, pay at most ${
        money({ amount: remaining, currency })
      }.`,
  }),
  "date_out_of_range.paid_in_future": ({ date }: { date: string }): Refusal => ({
    message: `${date} is in the future: record a payment once it has been made.`,
    hint:
      `Leave paid_on out if it was paid today; otherwise call this again on ${date}. The bill stays open until then, ` +
      "and its reminder stays on.",
  }),
  "duplicate.other_amount": (
    { name, due_on, expense, paid_on, ...sum }: Dated & Money & { expense: string; paid_on: string },
  ): Refusal => ({
    message: `${quoted(expense)}, ${money(sum)} on ${paid_on}, is in the books and may be the payment of ${name} due ` +
      `${due_on}. Nothing was written.`,
    hint:
      `Ask which amount is right. If it is that one, call again with amount "${sum.amount}"; if that one is wrong, ` +
      'correct it first (update_expenses). If both were paid, call again with on_duplicate "allow".',
  }),
  "invalid_argument.other_currency": (
    { name, due_on, currency, given }: Dated & { currency: string; given: string },
  ): Refusal => ({
    message: `${name} due ${due_on} is in ${currency}, not in ${given}.`,
    hint: `Give the amount in ${currency}. If only what the bank charged in ${given} is known, leave amount and ` +
      `currency out and give charged {"amount": "…", "currency": "${given}"}.`,
  }),
};

export const warnings = {
  "partly_paid": (
    { name, due_on, remaining, currency, paid }: Dated & { remaining: string; currency: string; paid: string },
  ): string =>
    `${
      money({ amount: remaining, currency })
    } of ${name} due ${due_on} is still open. If nothing more is owed, close it: ` +
    `update_bill with occurrence {"due_on": "${due_on}", "action": "set_amount", "amount": "${paid}"}.`,
  "rate_missing.of_payment": (
    { currency, into, date, is_awaited }: { currency: string; into: string; date: string; is_awaited: boolean },
  ): string =>
    `No exchange rate from ${currency} to ${into} is known for ${date}; totals in ${into} leave this payment out and ` +
    `say so.${awaited(is_awaited)}`,
  "paid_in_advance": ({ name, due_on, days }: Dated & { days: number }): string =>
    `This pays ${name} ahead of time: it is due on ${due_on}, in ${count(days, "day")}.`,
  "linked": (
    { name, due_on, expense, paid_on, ...sum }: Dated & Money & { expense: string; paid_on: string },
  ): string =>
    `${quoted(expense)}, ${
      money(sum)
    } on ${paid_on}, was in the books as a separate expense. It is now the payment of ` +
    `${name} due ${due_on} and counts once. If it was other spending, undo this and call again with on_duplicate "allow".`,
  "corrected": ({ name, due_on, ...before }: Dated & Paid): string =>
    `This replaces the payment recorded for ${name} due ${due_on}: ${money(before)}, paid ${payer(before)}.`,
  /** @param open.took the paid date, if nobody named it; `is_of_day` if it was due that day */
  "overdue": ({ name, dates, took, is_of_day }: {
    name: string;
    dates: string[];
    took?: string;
    is_of_day?: true;
  }): string =>
    took
      ? `This was recorded for ${took}, ${
        is_of_day ? "due on the day of the payment" : "the oldest open date"
      }. ${name} is ` +
        `still unpaid for ${names(dates, { most: 12 })}: if the payment was for ${
          dates.length > 1 ? "one of these" : "that date"
        }, ` +
        "undo this and call again with its due_on."
      : `${name} is still unpaid for ${names(dates, { most: 12 })}.`,
};

interface Recorded extends Dated, Money {
  remaining?: string;
  paid_on: string;
  before?: { amount: string; paid_on: string };
}

/** Summaries in the list of recent changes. */
export const changes = {
  mark_bill_paid: (
    { name, due_on: dueOn, remaining, paid_on, before, ...paid }: Recorded,
    { date, money: write }: EffectFormat = DATA_FORMAT,
  ): string => {
    const money = ({ amount, currency }: Money) => write(amount, currency);
    const due_on = date(dueOn);
    return before
      ? `Corrected the payment for ${name} due ${due_on}: ${money({ ...paid, amount: before.amount })} on ${
        date(before.paid_on)
      } ` +
        `became ${money(paid)} on ${date(paid_on)}`
      : `Paid ${money(paid)} for ${name} due ${due_on}` +
        (remaining ? `, ${money({ amount: remaining, currency: paid.currency })} remains` : "");
  },
};
