/** Words of `add_bill` and `update_bill`. */
import type { Money, Refusal } from "../message.ts";
import { ask, count, money, names, quoted, type WhoCan } from "./phrases.ts";
import { arrivesToday, type MissingOfContract, missingOfContract } from "./draft_cancellation.ts";
import { type Schedule, schedule } from "./schedule.ts";

interface Named {
  name: string;
}

interface Dated extends Named {
  due_on: string;
}

/** A due date that was open when its bill was paused; `paid` if part of it was paid. */
type OpenDate = Partial<Money> & { due_on: string; paid?: string };

export const refusals = {
  "invalid_argument.bill_without_name": (): Refusal => ({
    message: "A bill needs a name.",
    hint: 'Give a short label, e.g. "Rent".',
  }),
  "invalid_argument.bill_amount_missing": ({ name }: Named): Refusal => ({
    message: `The amount of ${name} is missing.`,
    hint: 'Ask for the amount. If it differs each time, give amount_mode "variable".',
  }),
  "invalid_argument.month_days_not_monthly": (
    { frequency, field }: { frequency: string; field: "month_days" | "month_weekdays" },
  ): Refusal => ({
    message: `Only monthly bills have ${field}.`,
    hint: frequency === "yearly" && field === "month_weekdays"
      ? 'For once a year, give frequency "monthly" and every 12, with first_due in the month it falls in.'
      : `Leave ${field} out and give first_due: a ${
        frequency === "once" ? "one-time" : frequency
      } bill counts from it.`,
  }),
  "invalid_argument.days_and_weekdays": (): Refusal => ({
    message: "A bill is due either on days of the month or on weekdays of the month, not on both.",
    hint: "Give month_days or month_weekdays. For both, add two bills.",
  }),
  "invalid_argument.fourth_and_last": (): Refusal => ({
    message: "In most months the fourth such weekday is also the last.",
    hint: "Ask which one is meant, and give that one.",
  }),
  "invalid_argument.first_due_missing": ({ name }: Named): Refusal => ({
    message: `The first due date of ${name} is missing.`,
    hint:
      'Ask for the day. Give first_due, or for a monthly bill month_days, e.g. [5], or month_weekdays, e.g. ["2TU"].',
  }),
  "invalid_argument.ends_before_first_due": (
    { name, ends_on, first_due }: Named & { ends_on: string; first_due: string },
  ): Refusal => ({
    message: `${name} would end on ${ends_on}, before it is first due on ${first_due}.`,
    hint: "Check both dates.",
  }),
  "invalid_argument.bill_over": ({ name, last_due }: Named & { last_due: string }): Refusal => ({
    message: `${name} would already be over: its last due date would be ${last_due}.`,
    hint: "For past payments use log_expenses.",
  }),
  "invalid_argument.share_too_fine": ({ percent }: { percent: number }): Refusal => ({
    message: `A share of ${percent}% has too many decimals.`,
    hint: "Use at most two decimals.",
  }),
  "invalid_argument.notice_without_renewal": (): Refusal => ({
    message: "A notice period counts back from the renewal date, which is missing.",
    hint: "Give renews_on as well, or leave notice_days out.",
  }),
  "date_out_of_range.not_confirmed_yet": ({ date }: { date: string }): Refusal => ({
    message: `${date} is in the future, but a confirmation must have arrived already.`,
    hint: "Give the day of the confirmation; ends_on takes the contract's last day.",
  }),
  "invalid_argument.too_many_bills": ({ organization, most }: { organization: string; most: number }): Refusal => ({
    message: `${organization} has ${most} bills, which is the maximum.`,
    hint: "Delete bills that are no longer needed: delete_records.",
  }),
  "invalid_argument.amount_in_new_currency": (
    { name, new_currency, ...old }: Named & Money & { new_currency: string },
  ): Refusal => ({
    message: `${name} costs ${money(old)}, and its amount in ${new_currency} is missing.`,
    hint: "Give amount together with currency.",
  }),
  "invalid_argument.open_in_old_currency": ({ name, currency }: Named & { currency: string }): Refusal => ({
    message: `${name} still has open due dates in ${currency}.`,
    hint: "Pay or skip the overdue and partly paid dates first, and leave apply_from out.",
  }),
  "date_out_of_range.far_ahead": ({ date }: { date: string }): Refusal => ({
    message: `${date} is more than two years ahead.`,
    hint: "Check the year.",
  }),
  "invalid_argument.nothing_to_change_of_bill": (): Refusal => ({
    message: "There is nothing to change.",
    hint: "Give set, occurrence, pause_until or provider.",
  }),
  "invalid_argument.apply_from_without_set": (): Refusal => ({
    message: "apply_from was given without a change to apply.",
    hint: "Give set as well, or leave apply_from out.",
  }),
  "invalid_argument.counts_at_once": (
    { name, apply_from, is_ending }: Named & { apply_from: string; is_ending: boolean },
  ): Refusal => ({
    message: "Only a new price or schedule can start later: status, autopay, paid_by and shared change at once.",
    hint: is_ending
      ? `To end ${name} on ${apply_from}, set ends_on to the day before instead of status.`
      : `Change the price or schedule from ${apply_from} on in one call, and the rest in another, on the day.`,
  }),
  "already_paid.to_reopen": ({ name, due_on }: Dated): Refusal => ({
    message: `${name} is already paid for ${due_on}.`,
    hint: "If it was not paid after all, reopen that date.",
  }),
  "invalid_argument.skipped_to_reopen": ({ name, due_on }: Dated): Refusal => ({
    message: `${name} was skipped on ${due_on}.`,
    hint: "Reopen that date first.",
  }),
  "invalid_argument.skip_partly_paid": ({ name, due_on, ...paid }: Dated & Money): Refusal => ({
    message: `${money(paid)} was already paid for ${name} due ${due_on}.`,
    hint: "If nothing more is owed, set_amount to the paid amount; if it was a mistake, undo that payment.",
  }),
  "invalid_argument.pause_of_one_date": ({ name, due_on }: Dated): Refusal => ({
    message: `${name} has one date, ${due_on}: there is no series to pause.`,
    hint: `Give occurrence {"due_on": "${due_on}", "action": "skip"}, or "snooze" with snooze_until.`,
  }),
  "invalid_argument.date_amount_missing": (): Refusal => ({
    message: "The amount is missing.",
    hint: "Give the amount for this date.",
  }),
  "invalid_argument.snooze_until_missing": (): Refusal => ({
    message: "The day to snooze until is missing.",
    hint: "Give the day of the next reminder.",
  }),
  "date_out_of_range.not_in_future": ({ date }: { date: string }): Refusal => ({
    message: `${date} is not in the future.`,
    hint: "Give a later day.",
  }),
  "forbidden_role.provider": (whoCan: WhoCan): Refusal => ({
    message: `Only the owner can connect a bill to its provider, or disconnect it. ${ask(whoCan)}`,
    hint: "Nothing was changed.",
  }),
  "feature_not_in_plan.providers": ({ organization }: { organization: string }): Refusal => ({
    message: `The plan of ${organization} does not include fetching amounts from providers.`,
    hint:
      "Amounts can be entered by hand: occurrence set_amount, or amount when it is paid. The Team plan includes fetching.",
  }),
  "invalid_argument.not_variable": ({ name }: Named): Refusal => ({
    message: `${name} has the same amount every time, so there is nothing to fetch.`,
    hint: 'Set amount_mode to "variable" first, or in the same call.',
  }),
};

interface Twin extends Named, Partial<Money> {
  id: string;
  schedule: Schedule;
}

const cost = ({ schedule: days, amount, currency }: Omit<Twin, "name">): string =>
  `${amount ? `${money({ amount, currency: currency! })}, ` : ""}${schedule(days)}`;
const twin = (other: Omit<Twin, "name">): string =>
  `${cost(other)}. Both exist now; if this was meant to change it, undo this and use update_bill with ${other.id}.`;

interface Exit {
  cancel_by?: string;
  today?: string;
  /** The last day of a contract that never renews. */
  leave_on?: string;
}

const goesOn = ({ cancel_by, today, leave_on }: Exit): string => {
  if (!cancel_by) return "";
  const by = cancel_by === today ? `today, ${cancel_by}: ${arrivesToday()}` : cancel_by;
  return leave_on
    ? ` It has no fixed end: to end it on ${leave_on}, cancel it by ${by}.`
    : ` It renews unless somebody cancels it by ${by}.`;
};

export const warnings = {
  "contract_incomplete": ({ name, missing }: Named & { missing: MissingOfContract[] }): string =>
    `The last day to cancel ${name} is unknown, because nobody has said ${
      missingOfContract(missing)
    }. Ask the person, ` +
    "never guess; update_bill set.contract stores it.",
  "confirmed_without_end": ({ name }: Named): string =>
    `The cancellation of ${name} is confirmed, but not its last day, so it stays active and due. Ask for the day, and ` +
    "set ends_on; if it is over already, set status cancelled.",
  "first_due_moved": (
    { name, next_due, first_due, closed_until }: Named & { next_due: string; first_due: string; closed_until?: string },
  ): string =>
    `${name} is next due on ${next_due}, not on ${first_due}: ${
      closed_until
        ? `everything due until ${closed_until} is already paid or skipped`
        : "that is not one of the given days of the month"
    }.`,
  "share_is_a_note": ({ percent, name }: Named & { percent: number }): string =>
    `The share of ${percent}% is stored and shown with ${name} (share_note); payments and totals still count the ` +
    "whole amount.",
  "same_name": ({ name, ...other }: Twin): string => `There is already a bill called ${name}: ${twin(other)}`,
  "same_name.of_payee": ({ name, new_name, ...other }: Twin & { new_name: string }): string =>
    `${new_name} looks like the bill ${name} of the same payee: ${twin(other)}`,
  "same_name.of_cost": ({ name, new_name, ...other }: Twin & { new_name: string }): string =>
    `${new_name} costs as much as the bill ${name} and is due within three days of it: ${
      cost(other)
    }. Ask the person whether they are ` +
    `one cost, which would count twice. If so, undo this; ${name} is ${other.id}.`,
  /** @param spent.apart why a payment can't take over the expense */
  "already_spent": (
    { name, due_on, id, apart, is_paid, expense, paid_on, ...sum }: Named & Money & {
      due_on: string;
      id: string;
      apart?: "split" | "reimbursed";
      is_paid?: true;
      expense: string;
      paid_on: string;
    },
  ): string =>
    apart || is_paid
      ? `${quoted(expense)} (${id}), ${money(sum)} on ${paid_on}, is recorded already as an expense ${
        apart === "split" ? "that is split" : apart ? "that somebody reimburses" : "of another amount"
      }. ${name} due ${due_on} cannot take it over: both ${is_paid ? "count now" : "will count once it is paid"}. ` +
        "Ask the person whether this is one payment. If so, delete that expense, or " +
        `${is_paid ? "undo this and " : ""}skip that date (update_bill).`
      : `${quoted(expense)}, ${money(sum)} on ${paid_on}, is in the books as an expense. Paying ${name} due ` +
        `${due_on} links it, so that it counts once.`,
  "duplicate.bill": ({ name }: Named): string =>
    `${name} already exists and was not added again. If it really is a second bill, call again with ` +
    'on_duplicate "allow".',
  "reminders_inactive": ({ organization }: { organization: string }): string =>
    `The reminder is set but will not be sent: the plan of ${organization} does not include reminder emails.`,
  "assignee_sees_nothing": ({ assignee }: { assignee: string }): string =>
    `${assignee} can’t see private categories, so they won't see this bill in lists or mails. Assign it to somebody ` +
    "who can see it, or choose another category.",
  "reminders_to_others": ({ who }: { who?: string }): string =>
    who
      ? `Reminders for this bill go to ${who}, not to the person asking, who is not its assignee or gets no mails of ` +
        "this organization."
      : "Nobody gets reminders for this bill, because everybody concerned has turned mails off.",
  "repeats_by_default": ({ name, schedule: days }: Named & { schedule: Schedule }): string =>
    `No frequency was given, so ${name} repeats: ${
      schedule(days)
    }. Tell the user. If it is due only once, undo this and ` +
    'add it again with frequency "once".',
  "past_dates_not_tracked": ({ next_due }: { next_due: string }): string =>
    `Due dates before today count as settled. The first one tracked is ${next_due}.`,
  "applies_later": ({ name, from, ...old }: Named & Partial<Money> & { from: string }): string =>
    `The new amount of ${name} applies to due dates from ${from} on; until then it stays ${
      old.amount ? money(old as Money) : "unknown"
    }.`,
  "applies_later.split": ({ name, next_due }: Named & { next_due?: string }): string =>
    `The payer and the split of ${name} change for payments from now on${next_due ? `, next due ${next_due}` : ""}; ` +
    "payments already in the books keep their payer and split.",
  "still_open": (
    { name, status, dates, count: all }: Named & { status: string; dates: OpenDate[]; count: number },
  ): string => {
    const [first] = dates as [OpenDate];
    const due = dates.map(({ due_on, ...cost }) => cost.amount ? `${due_on} (${money(cost as Money)})` : due_on);
    const what = all > 1
      ? `${count(all, "due date")} of ${name} are still open: ${names(due, { most: due.length, count: all })}.`
      : `${first.amount ? `${money(first as Money)} of ` : ""}${name} due ${first.due_on} is still open.`;
    const skipping = first.paid ? `"set_amount", "amount": "${first.paid}"` : '"skip"';
    return `${name} is ${status}. ${what} Ask the user: skip ${all > 1 ? "them" : "it"}, or still to be paid? ` +
      `To skip a date, call update_bill with occurrence {"due_on": "${first.due_on}", "action": ${skipping}}; once it ` +
      `is paid, mark_bill_paid with due_on "${first.due_on}". Until then it stays due.`;
  },
  "paused_until": ({ name, until, next_due }: Named & { until: string; next_due?: string }): string =>
    `${name} is not due before ${until}, and then resumes by itself.${
      next_due ? ` It is next due on ${next_due}.` : ""
    } The contract with the payee continues.`,
  "contract_goes_on": (
    { name, payee = "the payee", status, ...exit }: Named & Exit & { payee?: string; status: string },
  ): string =>
    `${name} ${
      status === "paused" ? "is paused" : "ended"
    } in these books only. The contract continues until somebody ` +
    `cancels it with ${payee}.${goesOn(exit)}`,
  "ends_here": (
    { name, payee = "the payee", ends_on, ...exit }: Named & Exit & { payee?: string; ends_on: string },
  ): string =>
    `${name} ends on ${ends_on} in these books. This doesn't cancel the contract with ${payee}.${goesOn(exit)}`,
  "still_ended": ({ name }: Named): string =>
    `${name} has ended: no due date is left. To continue it, give it a later ends_on or a higher ends_after.`,
  "snoozed": ({ name, due_on, until }: Dated & { until: string }): string =>
    `${name} is still due on ${due_on}; only the reminder waits until ${until}.`,
  "payments_removed": ({ name, due_on }: Dated): string =>
    `The payments recorded for ${name} due ${due_on} were removed from the books.`,
};
