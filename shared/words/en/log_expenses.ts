/** Words of `log_expenses`. */
import { DATA_FORMAT, type EffectFormat } from "../effect_format.ts";
import type { Budgeted } from "../facts.ts";
import type { Money, Refusal } from "../message.ts";
import { and, count, LOG_INCOME, money, names, percent, quoted, totals } from "./phrases.ts";
import { budget } from "./update_settings.ts";

/** The treatment of an amount without a rate. */
export const awaited = (is_awaited: boolean): string =>
  is_awaited ? " The rate has been requested and may arrive with the next daily run." : "";

/** A due date of a bill that an expense seems to pay. */
interface LikelyBill {
  name: string;
  due_on: string;
  paid_on?: string;
}

interface Taxed extends Money {
  tax: string;
}

/** A rule for recurring income. */
export interface Rule extends Money {
  id: string;
  name: string;
  repeats: string;
  next_on?: string;
}

/** Another income that may be the same as a new rule's. */
interface AlikeIncome extends Money {
  name: string;
  other: string;
  day: string;
}

export const rule = ({ id, name, repeats, next_on, ...sum }: Rule): string =>
  `${quoted(name)}, ${money(sum)} ${repeats}${next_on ? `, next on ${next_on}` : ""} (${id})`;

const WARN_BELOW = "update_settings with low_balance_limit warns before a balance falls below an amount.";

export const refusals = {
  "invalid_argument.charged_needless": ({ currency, base }: { currency: string; base: string }): Refusal => ({
    message: currency === base
      ? `This is in ${base}, the base currency, so its value is its amount.`
      : `The amount and the charge are both in ${currency}.`,
    hint: "Leave charged out, and correct amount if something else was paid.",
  }),
  "invalid_argument.tax_above_amount": ({ tax, amount, currency }: Taxed): Refusal => ({
    message: `${money({ amount: tax, currency })} of tax is more than the amount, ${money({ amount, currency })}.`,
    hint: "The amount is what was paid, tax included.",
  }),
  "invalid_argument.tax_contradicts": (
    { tax, amount, currency, rate, right, whole }: Taxed & { rate: number; right: string; whole?: string },
  ): Refusal => ({
    message: `${money({ amount, currency })} contains ${money({ amount: right, currency })} of tax at ${
      percent(rate)
    }, not ${money({ amount: tax, currency })}.`,
    hint: whole
      ? `If ${amount} is without tax, the amount is ${quoted(whole)}.`
      : "Leave out tax or tax_percent, whichever the receipt does not state.",
  }),
  "invalid_argument.reimbursement_contradicts": (): Refusal => ({
    message:
      "Only a reimbursement that is open or done has reimbursed_by, and only one that is done has reimbursed_on.",
    hint: 'Give reimbursement "open" or "done", or leave the others out.',
  }),
  "invalid_argument.split_without_amounts": (): Refusal => ({
    message: "More than one part of the split has no amount.",
    hint: "Only one part can be the rest: ask for the amounts of the others.",
  }),
  "invalid_argument.split_does_not_add_up": (
    { sum, amount, currency, difference, is_over }: Money & { sum: string; difference: string; is_over: boolean },
  ): Refusal => ({
    message: difference.search(/[1-9]/) < 0
      ? `The parts add up to ${money({ amount, currency })} already: nothing is left for the one without an amount.`
      : `The parts add up to ${money({ amount: sum, currency })}, but the expense is ${money({ amount, currency })}: ${
        money({ amount: difference, currency })
      } too ${is_over ? "much" : "little"}.`,
    hint: "Ask which amount is right, or leave one out for the rest.",
  }),
  "date_out_of_range.ahead": ({ date }: { date: string }): Refusal => ({
    message: `${date} is more than a day ahead: only past payments can be logged.`,
    hint: `For a future payment use add_bill with frequency "once" and first_due "${date}".`,
  }),
  "date_out_of_range.balance_ahead": ({ date }: { date: string }): Refusal => ({
    message: `${date} is in the future: nobody knows that balance yet.`,
    hint: "Give the balance of today or an earlier day. forecast estimates later ones.",
  }),
  "date_out_of_range.long_ago": ({ date, years }: { date: string; years: number }): Refusal => ({
    message: `${date} is more than ${years} years ago.`,
    hint: "Check the year.",
  }),
  "invalid_argument.income": ({ name }: { name?: string }): Refusal => ({
    message: `${name ? quoted(name) : "This"} looks like income, not spending, and was not written.`,
    hint: LOG_INCOME,
  }),
  "invalid_argument.income_fields": ({ fields, taken }: { fields: string[]; taken: string[] }): Refusal => ({
    message: `Income has no ${names(fields)}.`,
    hint: `Here it takes ${and(taken)}.`,
  }),
  "invalid_argument.repeats_without_income": (): Refusal => ({
    message: "Only income repeats here.",
    hint: "For a recurring cost, use add_bill.",
  }),
  "date_out_of_range.income_ahead": ({ date }: { date: string }): Refusal => ({
    message: `${date} is in the future.`,
    hint: "log_expenses takes expected income, at most five years ahead.",
  }),
  "invalid_argument.expense_without_name": (): Refusal => ({
    message: "An expense needs a name.",
    hint: 'Give a short label, e.g. "Lunch".',
  }),
  "invalid_argument.limit_as_account": ({ name, ...sum }: Money & { name: string }): Refusal => ({
    message: `${quoted(name)} names the limit of an overdraft, ${money(sum)}, not what an account has.`,
    hint:
      `Nothing was written. A balance needs the account's name and what it has now. A limit is not logged; ${WARN_BELOW}`,
  }),
  "invalid_argument.limit_as_balance": ({ name, ...sum }: Money & { name: string }): Refusal => ({
    message: `An overdraft means that ${quoted(name)} is ${
      money(sum)
    } below zero now, and so round an amount may be its limit instead.`,
    hint:
      `Nothing was written. Ask. If it is overdrawn by that much, repeat it with on_duplicate "allow". A limit is not ` +
      `logged; ${WARN_BELOW}`,
  }),
};

export const warnings = {
  "account_new": ({ name, names: others }: { name: string; names: string[] }): string =>
    `${quoted(name)} is a new account. The others are ${
      names(others.map(quoted))
    }; if one of them was meant, undo this and use its name.`,
  "balance_currency": ({ name, other, ...sum }: Money & { name: string; other: string }): string =>
    `${quoted(name)} looks like an account in ${other}, but ${
      money(sum)
    } was stored. If ${other} was meant, undo this ` +
    `and send it with currency ${other}.`,
  "balance_of_statement": (
    { name, date, stated, amount, currency }: Money & { name: string; date: string; stated: string },
  ): string =>
    `A statement says ${money({ amount: stated, currency })} for ${quoted(name)} on ${date}, which counts, not ${
      money({ amount, currency })
    }. Ask the person which is right.`,
  "amount_unusual": ({ names: large }: { names: string[] }): string =>
    `${names(large.map(quoted))} ${large.length === 1 ? "costs" : "cost"} more than a hundred times the largest ` +
    "expense before. Ask the person; if the amount is wrong, undo this.",
  "duplicate.expenses": ({ names: skipped }: { names: string[] }): string =>
    `${names(skipped.map(quoted))} ${
      skipped.length === 1 ? "is" : "are"
    } already in the books, so nothing was written for ${skipped.length === 1 ? "it" : "them"}. ` +
    'If it really was paid twice, call again with on_duplicate "allow" and only what is missing.',
  "duplicate.income": ({ names: skipped }: { names: string[] }): string =>
    `${names(skipped.map(quoted))} ${skipped.length === 1 ? "is" : "are"} already in the books as income, so nothing ` +
    `was written for ${skipped.length === 1 ? "it" : "them"}. If it really came twice, repeat only that with ` +
    'on_duplicate "allow".',
  "income_expected_twice": ({ rules }: { rules: Rule[] }): string =>
    `${and(rules.map(rule))} ${rules.length === 1 ? "is" : "are"} still expected as well. If the new one replaces ` +
    `${rules.length === 1 ? "it" : "them"}, remove ${rules.length === 1 ? "it" : "them"} with delete_records.`,
  "income_alike": ({ items }: { items: (AlikeIncome & { id: string })[] }): string =>
    items.map(({ id, name, other, day, ...sum }) =>
      `${quoted(other)}, ${money(sum)}, is expected on ${day} as well, because it comes regularly. If ${
        quoted(name)
      } (${id}) is the same income, give it that payer's name or amount with update_expenses. `
    ).join("").trim(),
  "income_planned": ({ names: planned }: { names: string[] }): string =>
    `Expected once, not received yet: ${
      names(planned.map(quoted))
    }. Log it again when it arrives, unless a statement shows it.`,
  "income_known": ({ items }: { items: AlikeIncome[] }): string =>
    items.map(({ name, other, day, ...sum }) =>
      `${quoted(other)}, ${money(sum)} on ${day}, counts as ${quoted(name)}, so it is not expected twice. If they ` +
      `differ, log ${quoted(other)} with repeats as well. `
    ).join("").trim(),
  "likely_bill": ({ items }: { items: { name: string; bill: LikelyBill }[] }): string =>
    items.map(({ name, bill }) =>
      `${quoted(name)} looks like the payment of the bill ${quoted(bill.name)} due ${bill.due_on}${
        bill.paid_on ? `, which is recorded as paid on ${bill.paid_on}` : ""
      }. `
    ).join("") +
    `Nothing was written for ${items.length === 1 ? "it" : "them"}. ${
      items.some(({ bill }) => !bill.paid_on) ? "If an open bill was paid, call mark_bill_paid with its due_on. " : ""
    }If it is other spending, repeat only that with on_duplicate "allow".`,
  "named_like_bill": ({ bills }: { bills: { name: string; paid_on?: string; next_due?: string }[] }): string =>
    bills.map(({ name, paid_on, next_due }) =>
      `There is also a bill called ${quoted(name)}, ${paid_on ? `last paid on ${paid_on}` : "not paid yet"}${
        next_due ? ` and next due on ${next_due}` : ""
      }. `
    ).join("") +
    "The expense counts in addition to the bill. Ask the user; if it was the bill's payment, undo this and call mark_bill_paid.",
  "refund_of_nothing": ({ names: refunds }: { names: string[] }): string =>
    `No expense in the books has a name like ${names(refunds.map(quoted))}, booked as ${
      refunds.length === 1 ? "a refund" : "refunds"
    }, which lowers spending. If it is a donation, a fee or a sale, undo this. ${LOG_INCOME}`,
  "refund_of_reimbursed": (
    { items }: { items: (Money & { name: string; other: string; id: string; by?: string })[] },
  ): string =>
    items.map(({ name, other, id, by, ...cost }) =>
      `${quoted(name)} looks like the reimbursement of ${quoted(other)} (${id}), ${money(cost)}, which ${
        by ?? "somebody"
      } still owes. `
    ).join("") +
    'Both would lower spending. If it is, undo this and set reimbursement "done" there with update_expenses; a part needs ' +
    'set.split [{"amount": "<part>"}, {}] first.',
  "refund_of_member": ({ items }: { items: { name: string; member: string }[] }): string =>
    items.map(({ name, member }) => `${quoted(name)} names ${member}. `).join("") +
    "If a member paid back their share of shared costs, undo this and use settle_up: a refund lowers spending.",
  "like_refund": ({ names: back }: { names: string[] }): string =>
    `${names(back.map(quoted))} ${
      back.length === 1 ? "is" : "are"
    } booked as spending. If that money came back, undo ` +
    "this and log it with is_refund true.",
  /** @param items.by absent for the person's own records */
  "resembles_another": (
    { items }: { items: (Money & { name: string; other: string; by?: string })[] },
  ): string =>
    items.map(({ name, other, by, ...cost }) =>
      `${by ? `${by} recorded` : "The books have"} ${quoted(other)}, ${money(cost)}, on the day of ${quoted(name)}. `
    )
      .join("") + "Both count. Ask the user; if it is the same spending, undo this.",
  "dated_tomorrow": ({ names: early, date }: { names: string[]; date: string }): string =>
    `${names(early)} ${early.length === 1 ? "is" : "are"} dated tomorrow, ${date}. ` +
    'If it has not been paid yet, undo this and use add_bill with frequency "once".',
  "own_transfer": ({ names: moved }: { names: string[] }): string =>
    `${names(moved.map(quoted))} ${moved.length === 1 ? "looks" : "look"} like money moved between own accounts. ` +
    "Such a transfer is not spending, but was counted. Ask the person; if it is one, remove it with delete_records.",
  "cash_withdrawn.logged": ({ names: withdrawn }: { names: string[] }): string =>
    `${names(withdrawn.map(quoted))} ${
      withdrawn.length === 1 ? "looks" : "look"
    } like cash from a machine, and counts ` +
    "as spending. Tell the person: what the cash buys must not be logged as well, or it counts twice.",
  "like_income": ({ names: earned }: { names: string[] }): string => {
    const are = earned.length === 1 ? "is" : "are";
    return `${
      names(earned.map(quoted))
    } ${are} booked as spending. If the person received it, undo this. ${LOG_INCOME}`;
  },
  "budget_reached": (
    { budgets }: { budgets: (Budgeted & { spent: string; limit: string; currency: string })[] },
  ): string =>
    budgets.map(({ spent, limit, currency, ...of }) =>
      `The ${budget(of)} is ${Number(spent) < Number(limit) ? "nearly used up" : "used up"}: ${spent} of ${
        money({ amount: limit, currency })
      } spent.`
    ).join(" "),
  "rate_missing.of_day": (
    { currencies, into, is_awaited }: { currencies: string[]; into: string; is_awaited: boolean },
  ): string =>
    `No exchange rate from ${and(currencies)} to ${into} is known for the day, ` +
    `so totals in ${into} leave the amount out and say so.${awaited(is_awaited)}`,
  "rate_pending": ({ into, since }: { into: string; since: string }): string =>
    `Some values in ${into} will still change: rates from ${since} on are not all published yet, and the last known ` +
    "ones are used until then.",
  "rate_snapshot": ({ into, of }: { into: string; of: string }): string =>
    `Values in ${into} are provisional where a rate is needed: they use a snapshot of exchange rates from ${of}, and ` +
    "change when the rates of their days arrive.",
};

interface Logged {
  count: number;
  /** The first few. */
  written: { name: string; is_refund: boolean }[];
  /** Balances of accounts, the first few. */
  balances?: (Money & { name: string; date: string })[];
  /** Income and rules for it, the first few. */
  incomes?: (Money & { name: string; date: string; repeats?: string })[];
  totals_by_currency: Record<string, string>;
}

/** Summaries in the list of recent changes. */
export const changes = {
  log_expenses(
    { count: all, written, balances = [], incomes = [], totals_by_currency }: Logged,
    format: EffectFormat = DATA_FORMAT,
  ): string {
    const first = written.map(({ name, is_refund }) => is_refund ? `refund of ${name}` : name);
    if (balances.length + incomes.length > 0) {
      first.push(
        ...incomes.map(({ name, date, repeats, ...sum }) =>
          `income ${name} on ${format.date(date)}, ${format.money(sum.amount, sum.currency)}${
            repeats ? `, ${repeats}` : ""
          }`
        ),
        ...balances.map(({ name, date, ...sum }) =>
          `balance of ${name} on ${format.date(date)}, ${format.money(sum.amount, sum.currency)}`
        ),
      );
      return `Logged ${names(first, { count: all + balances.length + incomes.length })}`;
    }
    // If the books already contained all expenses, the call only created a category.
    if (all === 0) return "Logged nothing new";
    if (all === 1) return `Logged ${first[0]}, ${totals(totals_by_currency, format.money)}`;
    return `Logged ${count(all, "expense")}: ${names(first, { count: all })}`;
  },
};
