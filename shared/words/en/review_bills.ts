/** A sentence for each finding of `review_bills`. */
import { monthsAfter } from "../../iso_day.ts";
import type { Question } from "../facts.ts";

import {
  arrivesToday,
  type CancelForm,
  inForm,
  type MissingOfContract,
  missingOfContract,
} from "./draft_cancellation.ts";
import { money, signedPercent } from "./phrases.ts";
import { rhythm, type Schedule, schedule } from "./schedule.ts";

interface Finding {
  name: string;
  currency: string;
}

const inCurrency = (amount: string, currency: string) => money({ amount, currency });

interface ProviderTrouble {
  name: string;
  provider: string;
  kind: "needs_review" | "needs_reauth" | "paused_by_plan" | "paused" | "failed" | "amount_missing";
  needs_review?: Question;
  missing_period?: string;
}

export const findings = {
  overdue: (
    { name, due_on, dates, amount, currency, is_estimate }: Finding & {
      due_on: string;
      dates: number;
      amount?: string;
      is_estimate?: boolean;
    },
  ) =>
    `${name} has been overdue since ${due_on}${dates > 1 ? ` (${dates} dates)` : ""}` +
    `${amount ? `: ${is_estimate ? "about " : ""}${inCurrency(amount, currency)}` : ""}.`,
  price_rises: (
    rise: Finding & {
      old: string;
      new: string;
      change_percent: number;
      since: string;
      more_a_year: string;
      upcoming?: boolean;
      recorded?: string;
    },
  ) =>
    `${rise.name} ${rise.upcoming ? "will cost" : "has cost"} ${inCurrency(rise.new, rise.currency)} ${
      rise.upcoming ? "from" : "since"
    } ${rise.since}, up from ${inCurrency(rise.old, rise.currency)} (${signedPercent(rise.change_percent)}), which is ${
      inCurrency(rise.more_a_year, rise.currency)
    } more a year.${
      rise.recorded
        ? ` The bill still says ${inCurrency(rise.recorded, rise.currency)}; update_bill sets the new amount.`
        : ""
    }`,
  unusual_amounts: (
    { name, due_on, amount, usual, currency, change_percent }: Finding & {
      due_on: string;
      amount: string;
      usual: string;
      change_percent: number;
    },
  ) =>
    `${name} due ${due_on} is ${inCurrency(amount, currency)}, usually about ${inCurrency(usual, currency)} (${
      signedPercent(change_percent)
    }).`,
  possible_duplicates: (
    { name, other_name, amount, other_amount, currency, schedule: days }: Finding & {
      other_name: string;
      amount?: string;
      other_amount?: string;
      schedule: Schedule;
    },
  ) => {
    const same = name.toLowerCase() === other_name.toLowerCase();
    const amounts = [amount, other_amount].filter((one) => one !== undefined).map((one) => inCurrency(one, currency));
    return `${same ? `${name} exists twice` : `${name} and ${other_name} look like the same bill`}${
      amounts.length > 0 ? `: ${amounts.join(" and ")}` : ""
    }, ${schedule(days)}.`;
  },
  double_charges: (
    { name, amount, currency, first_on, second_on, parts, is_confirmed }: Finding & {
      amount: string;
      first_on: string;
      second_on: string;
      parts?: number;
      is_confirmed?: true;
    },
  ) =>
    `${inCurrency(amount, currency)} was paid twice where ${name} is due once: on ${first_on} and on ${second_on}${
      parts ? `, once in ${parts} parts` : ""
    }. ` +
    (is_confirmed
      ? "Both were recorded as real payments; if the second was charged by mistake, ask the payee for it."
      : parts
      ? "If both are the same money, delete the separate expense with delete_records."
      : "If both are one payment, merge them with update_expenses."),
  trials_ending: (
    { name, trial_ends_on, amount, currency, schedule: days }: Finding & {
      trial_ends_on: string;
      amount?: string;
      schedule: Schedule;
    },
  ) =>
    `The trial of ${name} ends on ${trial_ends_on}${
      amount ? `; after that it costs ${inCurrency(amount, currency)} ${schedule(days)}` : ""
    }.`,
  trials_charged: (
    { name, trial_ends_on, charged_on, amount, currency, is_assumed, schedule: days }: Finding & {
      trial_ends_on: string;
      charged_on: string;
      amount: string;
      is_assumed?: boolean;
      schedule: Schedule;
    },
  ) =>
    `The trial of ${name} ended on ${trial_ends_on}, and it ${is_assumed ? "counts as charged" : "charged"} ${
      inCurrency(amount, currency)
    } on ${charged_on}${is_assumed ? " (paid automatically; no statement shows it yet)" : ""}, as it will ${
      schedule(days)
    }. To cancel it, draft_cancellation writes the letter.`,
  charged_after_end: (
    { name, ended_on, confirmed_on, charges, last_on, amount, currency }: Finding & {
      ended_on: string;
      confirmed_on?: string;
      charges: number;
      last_on: string;
      amount: string;
    },
  ) =>
    `A charge like ${name} came after its${confirmed_on ? " confirmed" : ""} end: ${
      inCurrency(amount, currency)
    } on ${last_on}${charges > 1 ? ` (${charges} charges)` : ""}, though it ended on ${ended_on} (${
      confirmed_on ? `confirmed on ${confirmed_on}` : "no confirmation is recorded"
    }). A final bill for the time before may be right; ` +
    "otherwise ask for a refund. If the contract continues after all, set the bill active again with update_bill.",
  savings: (
    { name, ended_on, payments, unproven, since, amount, saved, currency, is_estimate, account, statements_to }:
      & Finding
      & {
        ended_on: string;
        payments: number;
        unproven?: number;
        since?: string;
        amount: string;
        saved?: string;
        is_estimate?: boolean;
        account?: string;
        statements_to?: string;
      },
  ) => {
    const open = unproven === 1 ? "1 date" : `${unproven} dates`;
    const gap = account
      ? ` statement of ${account} covers ${open} yet`
      : ` statement shows the account that paid it, so ${open} can't be checked`;
    if (!saved) return `${name} ended on ${ended_on}. Nothing is proven yet: no${gap}.`;
    return `${payments === 1 ? "One payment" : `${payments} payments`} of ${is_estimate ? "about " : ""}${
      inCurrency(amount, currency)
    } for ${name} ${payments === 1 ? "has" : "have"} not been charged since ${since}: ${is_estimate ? "about " : ""}${
      inCurrency(saved, currency)
    } saved, according to the statements of ${account} up to ${statements_to}.${unproven ? ` No${gap}.` : ""}`;
  },
  cancel_by: (
    { name, renews_on, ends_on, cancel_by, days_left, form, drafted_on, missed_on, leave_on, missing }: {
      name: string;
      days_left?: number;
      renews_on?: string;
      ends_on?: string;
      cancel_by?: string;
      form?: CancelForm;
      drafted_on?: string;
      missed_on?: string;
      leave_on?: string;
      missing?: MissingOfContract[];
    },
  ) => {
    if (missed_on !== undefined) {
      return `The notice period of ${name} passed on ${missed_on}: the letter of ${drafted_on}, which ends it on ${leave_on}, had to arrive by then, and no confirmation is recorded. If it arrived in time, set contract.confirmed_on and ends_on. If not, ${
        cancel_by
          ? `${ends_on ? `the next possible end is ${ends_on}` : `it renews next on ${renews_on}`}: cancel${
            inForm(form)
          } by ${days_left === 0 ? `today, ${cancel_by}` : cancel_by}, with a new draft_cancellation.`
          : "its next possible end is unknown."
      }`;
    }
    if (cancel_by === undefined) {
      return `${name} ${
        renews_on ? `renews on ${renews_on}, but` : "has a contract, but"
      } the last day to cancel is unknown: nobody has said ${
        missingOfContract(missing!)
      }. Ask, and set it with update_bill, set.contract.`;
    }
    return `${name} ${renews_on ? `renews on ${renews_on}` : `can end on ${ends_on}`}; to end it${
      renews_on && ends_on ? ` on ${ends_on}` : ""
    }, cancel${inForm(form)} by ${days_left === 0 ? `today, ${cancel_by}: ${arrivesToday(form)}` : cancel_by}.${
      drafted_on
        ? ` A letter was drafted on ${drafted_on}; no confirmation is recorded. If it came, set contract.confirmed_on.`
        : ""
    }`;
  },
  recurring_charges: (
    { name, amount, lowest, highest, currency, frequency, every, charges, first_on, last_on, next_on }: Finding & {
      amount: string;
      lowest?: string;
      highest?: string;
      frequency: "weekly" | "monthly" | "yearly";
      every: number;
      charges: number;
      first_on: string;
      last_on: string;
      next_on?: string;
    },
  ) =>
    `${name} charged ${
      lowest && highest
        ? `between ${inCurrency(lowest, currency)} and ${inCurrency(highest, currency)}, last ${
          inCurrency(amount, currency)
        },`
        : inCurrency(amount, currency)
    } ${rhythm(frequency, every)} (${charges} times from ${first_on} to ${last_on}), and no bill covers it.${
      next_on ? ` The next charge is likely around ${next_on}.` : ""
    } If it is a bill, add it with add_bill; if not, update_settings with payee_rules and no_bill stops this question.`,
  stopped_charges: (
    { name, due_on, account, statements_to, recorded, amount, currency }: {
      name: string;
      due_on: string;
      account: string;
      statements_to: string;
      recorded?: number;
      amount?: string;
      currency?: string;
    },
  ) =>
    `${name} was due on ${due_on}, but the statements of ${account} to ${statements_to} have no such charge. ${
      recorded
        ? `The books recorded ${
          recorded === 1 ? "an automatic payment" : `${recorded} automatic payments`
        } since then and count ${
          inCurrency(amount!, currency!)
        } as spent. If it was cancelled, update_bill with set.status cancelled and apply_from ${due_on} ends it and removes them; if another account paid, they are right.`
        : `If it was cancelled, update_bill with set.status cancelled and apply_from ${due_on} ends it; if it was paid another way, mark_bill_paid records it.`
    }`,
  provider_attention: ({ name, provider, kind, needs_review, missing_period }: ProviderTrouble) => {
    switch (kind) {
      case "needs_review":
        return question({ name, provider, ...needs_review! });
      case "needs_reauth":
        return `The owner has to reconnect ${name} to ${provider}: update_bill with provider connect gives the link.`;
      case "paused_by_plan":
        return `The connection of ${name} to ${provider} is paused: the plan does not include fetching amounts. Until it does, set them with update_bill.`;
      case "paused":
        return `The connection of ${name} to ${provider} is paused. The owner can resume it on the account page.`;
      case "failed":
        return `The amount of ${name} could not be fetched from ${provider}. sync_bill_amounts tries again.`;
      case "amount_missing":
        return `The amount of ${name} is missing: ${provider} has no statement for ${missing_period}. Set it with update_bill once it is known.`;
    }
  },
};

const WHY = {
  other_currency: "is in another currency than the bill",
  nothing_to_pay: "leaves nothing to pay",
  skipped: "was skipped",
  paid: "is already paid",
  other: "could not be applied at the time",
};

/** An amount that was not applied, the reason, and the next step. */
export function question(asked: Question & { name: string; provider: string }): string {
  const { name, provider, due_on, period, reason, usual, currency } = asked;
  const why = reason === "unusual" ? `is far from the usual ${inCurrency(usual!, currency)}` : WHY[reason ?? "other"];
  return `${provider} reports ${money(asked)} for ${name} due ${due_on}, which ${why}. ${whatToDo(reason, period)}`;
}

function whatToDo(reason: Question["reason"], period: string | undefined): string {
  switch (reason) {
    case undefined:
      return `sync_bill_amounts with period "${monthAfter(period!)}" applies it now.`;
    case "nothing_to_pay":
      return "It was not applied; if it is right, skip that date with update_bill.";
    case "paid":
      return "The payment stays as it is.";
    case "skipped":
      return "If it is to be paid after all, reopen that date with update_bill.";
    default:
      return "It was not applied; if it is right, set the amount of that date with update_bill.";
  }
}

/** Providers bill in arrears, so a month's statement is due in the next month. */
const monthAfter = (period: string): string => monthsAfter(period, 1).slice(0, 7);
