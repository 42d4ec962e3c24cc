/** Words of `list_expenses` and `summarize_spending`, which share their filter. */
import type { Money, Refusal } from "../message.ts";
import { and, count, money, names, quoted, totals } from "./phrases.ts";

interface Period {
  from: string;
  to: string;
}

export const refusals = {
  "invalid_argument.income_group": ({ group, is_net }: { group: string; is_net: boolean }): Refusal => ({
    message: is_net ? `Net income can't be grouped by ${group}.` : `Income can't be grouped by ${group}.`,
    hint: is_net
      ? "Group it by month, week or day."
      : "Group it by category, payee, month, week, day, currency or recorded_by.",
  }),
  "invalid_argument.upcoming_unrecorded": (): Refusal => ({
    message: "Nobody has recorded upcoming dates yet.",
    hint: "Leave include_upcoming out, or group by something other than recorded_by.",
  }),
  "invalid_argument.period_backwards": ({ from, to }: Period): Refusal => ({
    message: `The period ends (${to}) before it begins (${from}).`,
    hint: "Give from as the earlier day.",
  }),
  "invalid_argument.amounts_backwards": (): Refusal => ({
    message: "The smallest amount is larger than the largest.",
    hint: "Give min_amount as the smaller one.",
  }),
  "not_found.member": ({ member, several }: { member: string; several?: string[] | null }): Refusal => ({
    message: several
      ? `${quoted(member)} may be ${names(several, { most: 10 })}.`
      : `${quoted(member)} matches no member of this organization.`,
    hint: 'Give the address of one of details.members, or "me".',
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

/** Payments that a filter misses, among the latest 500. */
interface LeftOut {
  count: number;
  is_least?: true;
  totals_by_currency?: Record<string, string>;
  names: string[];
  name_count: number;
}

const leftOut = ({ count: all, is_least, totals_by_currency, names: some, name_count }: LeftOut, which: string) =>
  `${is_least ? "more than " : ""}${count(all, `payment ${which}`, `payments ${which}`)}${
    totals_by_currency ? `, ${totals(totals_by_currency)}` : ""
  } (${names(some, { most: some.length, count: name_count })})`;

/** Income that is not in the books, the first of `count`. */
interface Missing {
  items: (Money & { name: string; day: string })[];
  count: number;
}

const missing = ({ items, count }: Missing, when: string) =>
  names(items.map(({ name, day, ...sum }) => `${quoted(name)}, ${money(sum)}, ${when} ${day}`), {
    most: items.length,
    count,
  });

const someBelongHere = (tool: string) => `If some belong here, ${tool} sets their category.`;

export const warnings = {
  "uncategorized_left_out": (facts: LeftOut): string =>
    `Not included: ${leftOut(facts, "without a category")}. ${someBelongHere("update_expenses")}`,
  "uncategorized_left_out.bills": ({ names: some, count: all }: { names: string[]; count: number }): string =>
    `Not included, because they have no category: ${names(some, { most: some.length, count: all })}. ${
      someBelongHere("update_bill")
    }`,
  "category_left_out": ({ name, ...facts }: LeftOut & { name: string }): string =>
    `Not included: ${leftOut(facts, `of the category ${name} without the word`)}. categories ["${name}"] finds ${
      facts.count === 1 ? "it" : "them"
    }.`,
  "category_left_out.bills": (
    { name, names: some, count: all }: { name: string; names: string[]; count: number },
  ): string =>
    `Not included, because only their category ${name} has the word: ${
      names(some, { most: some.length, count: all })
    }. category "${name}" finds them.`,
  "income_partly_known": (): string => "Income that this person may not see may be missing.",
  "own_records_only": (): string => "This person sees only their own records.",
  "income_unknown": (): string =>
    'The books have no income up to the end of this period. Log it with log_expenses and kind "income", or import ' +
    "statements.",
  "income_begins": ({ on }: { on: string }): string => `The books have no income before ${on}.`,
  "income_stopped": (facts: Missing): string => `Came regularly and then stopped: ${missing(facts, "last on")}.`,
  "income_late": (facts: Missing): string => `Late and not in the books: ${missing(facts, "expected on")}.`,
  "income_expected": (facts: Missing): string => `Still expected: ${missing(facts, "on")}.`,
  "net_is_income_less_spending": (): string =>
    "Each amount is income less spending. Savings and transfers between own accounts count as neither.",
  "books_begin": ({ on, from, to }: Period & { on: string }): string =>
    `The books begin on ${on}, so previous is incomplete for ${from} to ${to}, and no change is given.`,
  "books_begin.inside": ({ on, from, to }: Period & { on: string }): string =>
    `The books begin on ${on}, so they do not cover all of ${from} to ${to}.`,
  "period_ahead": ({ from }: { from: string }): string =>
    `The period begins on ${from}, in the future, so nothing has been spent in it yet. include_upcoming true counts upcoming bills.`,
  "reimbursed_included": (
    { open, done, currency }: { open?: string; done?: string; currency: string },
  ): string =>
    `The total includes ${
      and([
        ...(open ? [`${money({ amount: open, currency })} that somebody else still has to pay back`] : []),
        ...(done ? [`${money({ amount: done, currency })} that was paid back`] : []),
      ])
    }. reimbursement "none" leaves ${open && done ? "both" : "it"} out.`,
  "period_running": ({ until, from, to }: Period & { until: string }): string =>
    `This period runs until ${until}; previous covers the same days of the earlier one, ${from} to ${to}.`,
  "paid_across_border": ({ names: bills }: { names: string[] }): string =>
    `${names(bills)} ${bills.length === 1 ? "was" : "were"} paid in one of these periods and due in another, ` +
    "a few days apart, which is part of the change.",
  "rate_missing.of_filter": ({ count, into }: { count: number; into: string }): string =>
    `${
      count === 1
        ? "One payment could not be compared with these amounts, since its"
        : `${count} payments could not be compared with these amounts, since their`
    } exchange rate to ${into} is not known; ${count === 1 ? "it is" : "they are"} not included.`,
  "tags_overlap": (): string => "Some payments have several tags and count under each; the total counts them once.",
  "rate_missing.of_payments": ({ into }: { into: string }): string =>
    `No exchange rate to ${into} is known for some payments, so they are in no total; ` +
    "those of this period are listed in unconverted.",
  "amount_estimated": (
    { count: payments, totals_by_currency }: { count: number; totals_by_currency: Record<string, string> },
  ): string =>
    `${count(payments, "automatic payment")} of this period, ${totals(totals_by_currency)}, ${
      payments === 1 ? "is an estimate" : "are estimates"
    } and will change when the real amount is known.`,
  "not_in_statements": ({ bills }: { bills: (Money & { name: string; account: string; dates: string[] })[] }): string =>
    `${
      bills.map(({ name, account, dates, ...paid }) =>
        `${name} was recorded automatically (${money(paid)} on ${
          and(dates)
        }), but the statements of ${account} do not show it.`
      ).join(" ")
    } The amounts count as spent; review_bills says how to remove them.`,
  "amount_awaited": ({ names: bills }: { names: string[] }): string =>
    `${names(bills)} ${bills.length === 1 ? "was" : "were"} charged automatically in this period, ` +
    "but the amount is not known yet, so it is in no total.",
  "amount_estimated.to_come": (
    { names: bills, totals_by_currency }: { names: string[]; totals_by_currency: Record<string, string> },
  ): string => {
    const isOne = new Set(bills).size === 1;
    return `The expected ${isOne ? "amount" : "amounts"} of ${names(bills, { most: 10 })}, ` +
      `${totals(totals_by_currency)}${isOne ? "," : " in all,"} ${isOne ? "is an estimate" : "are estimates"}.`;
  },
  "amount_missing.to_come": ({ names: bills }: { names: string[] }): string =>
    `The amounts of ${names(bills)}, which are still upcoming, are not known yet.`,
};

/** The rule that chooses exchange rates. */
export const rateRule =
  "Each payment is converted by what the bank charged, else at the rate of its day, or the latest before it, at most 7 days old; " +
  "source snapshot: at the rates of as_of, which came with the service.";
