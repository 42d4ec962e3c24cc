/** Words of `forecast`. */
import type { Money, Refusal } from "../message.ts";
import {
  and,
  count,
  type KnownBalance,
  knownBalances,
  money,
  names,
  quoted,
  type Unwatched,
  unwatchedBalances,
} from "./phrases.ts";

interface Point {
  on: string;
  low: string;
  likely: string;
  high: string;
}

interface Expected {
  currency: string;
  lowest: Point;
  end: Point;
  after_spending?: { amount: string; on: string; lowest: Point; end: Point };
}

const range = ({ on, low, likely, high }: Point, currency: string) =>
  `${money({ amount: likely, currency })} on ${on} (between ${low} and ${high})`;
const course = ({ lowest, end }: { lowest: Point; end: Point }, currency: string) =>
  `${range(end, currency)}${
    lowest.on === end.on ? ", which is also the lowest" : `; the lowest is likely ${range(lowest, currency)}`
  }.`;

export const forecast = {
  /** The end and the lowest day of a forecast, and both again after the requested spending. */
  expected: ({ currency, after_spending: spent, ...expected }: Expected): string =>
    `Likely ${course(expected, currency)}${
      spent
        ? ` With ${money({ amount: spent.amount, currency })} spent on ${spent.on}: likely ${course(spent, currency)}`
        : ""
    }`,
  assumption: (
    { what, name, amount, currency, since, weeks = 0, give_or_take }: Money & {
      what: "usual_spending" | "usual_flow" | "bill" | "income";
      name?: string;
      since?: string;
      weeks?: number;
      give_or_take: string;
    },
    until: string,
  ): string => {
    const sum = `${money({ amount, currency })}, give or take ${give_or_take}`;
    return what === "usual_spending" || what === "usual_flow"
      ? `Usual spending${what === "usual_flow" ? " and transfers" : ""}${
        name ? ` from ${name}` : ""
      } after ${since} until ${until}: ${sum}, as in the last ${count(weeks, "week")}.`
      : `${name} until ${until}: ${sum}.`;
  },
  /** The balances that fall below the limit, and those that are below it already. */
  limit: (
    { below, ...limit }: Money & Unwatched & {
      below: { account?: string; on: string; low: string; likely: string; currency: string }[];
    },
    until: string,
  ): string =>
    [
      ...(below.length === 0
        ? [`No balance above the limit of ${money(limit)} is expected to fall below it by ${until}.`]
        : below.map(({ account, on, low, likely, currency }) =>
          `${account ? `${account} is` : "All accounts together are"} expected to fall below the limit of ${
            money(limit)
          } on ${on}: likely ${money({ amount: likely, currency })}, possibly as low as ${low}.`
        )),
      ...unwatchedBalances(limit),
    ].join(" "),
  leftOut: {
    no_balance: ({ names: all }: { names: string[] }): string =>
      `${
        names(all)
      }: no balance is known. Import a statement, or ask the person and log it (log_expenses, kind balance).`,
    old_balance: ({ name, amount, currency, on }: Money & { name: string; on: string }): string =>
      `${name}: its last balance, ${money({ amount, currency })} on ${on}, is older than 45 days.`,
    no_rate: ({ currencies }: { currencies: string[] }): string =>
      `Amounts in ${and(currencies)} are not in the total: no exchange rate is known.`,
    bill_without_amount: ({ names: all }: { names: string[] }): string =>
      `Bills without a known amount: ${names(all, { most: 10 })}.`,
    in_total_only: ({ names: all }: { names: string[] }): string =>
      `In the total only, because their account is not known: ${names(all, { most: 10 })}.`,
    payments_without_line: (sum: Money): string =>
      `About ${
        money(sum)
      } a month appears in no statement and is not counted: it was paid in cash or from other accounts.`,
    budgets_instead: (sum: Money): string =>
      `There is too little past spending for an estimate, so budgets are used instead: ${money(sum)} in 30 days.`,
    spending_unknown: (): string =>
      "Spending other than bills: there are neither four weeks of payments nor budgets for an estimate.",
    spending_in_total_only: (): string =>
      "Usual spending is in the total only, because no statement shows the account.",
    income_unplaced: ({ items }: { items: (Money & { name: string; on: string })[] }): string =>
      `Not counted, because a balance may contain it already: ${
        and(items.map(({ name, on, ...sum }) => `${quoted(name)}, ${money(sum)} on ${on}`))
      }. No account is known for it.`,
    income_late: (
      { name, on, is_counted, ...sum }: Money & { name: string; on: string; is_counted: boolean },
    ): string =>
      `${quoted(name)}, ${money(sum)}, was expected on ${on} and is not in the books. ${
        is_counted
          ? "It counts as if it came today. Low leaves it out, and its later payments once it is four days late."
          : "It is not counted."
      }`,
    income_stopped: ({ name, on, ...sum }: Money & { name: string; on: string }): string =>
      `${quoted(name)}, ${money(sum)}, came regularly until ${on} and then stopped, so none is expected.`,
    income_alike: ({ name, other, on }: { name: string; other: string; on: string }): string =>
      `${quoted(name)} and ${quoted(other)} are both expected around ${on} and both counted. If they are the same ` +
      "income, give the first one the payer's name or amount with update_expenses.",
    income_later: ({ name, on, ...sum }: Money & { name: string; on: string }): string =>
      `Income: none is expected in this period. The next is ${quoted(name)}, ${money(sum)}, on ${on}.`,
    accounts_differ: ({ total, ...sum }: Money & { total: string }): string =>
      `The accounts add up to ${money(sum)} at the end, but the total is ${total}: it leaves out transfers between ` +
      "them, and includes amounts whose account is not known.",
    recurring_unplanned: (
      { items, count: all }: { items: (Money & { name: string })[]; count: number },
    ): string =>
      `Counted evenly over the days and not on their dates, because they have no bill: ${
        names(items.map(({ name, ...sum }) => `${name} (${money(sum)})`), { most: 10, count: all })
      }. review_bills proposes bills for them.`,
    no_income: (): string =>
      "Income: none is expected, because nobody stated any and no payer has paid regularly at least three times.",
  },
};

interface OldBalance extends Money {
  on: string;
}

export const refusals = {
  "not_found.balance": (
    { account, old, is_partial }: { account?: string; old?: OldBalance; is_partial?: boolean },
  ): Refusal => ({
    message: `No current balance${account ? ` of ${account}` : ""} is known${
      is_partial ? " to this person, who does not see all accounts" : ""
    }, so nothing can be forecast.${old ? ` The last one, ${money(old)} on ${old.on}, is older than 45 days.` : ""}`,
    hint: is_partial
      ? "Say that others in the organization may see more. Log a balance only for this person's own account."
      : "Ask what the account has now and log it (log_expenses, kind balance), or import its latest statement.",
  }),
  "date_out_of_range.forecast": (
    { from, to, day, known }: { from: string; to: string; day?: string; known?: KnownBalance[] },
  ): Refusal => ({
    message: `The day must be from ${from} to ${to}.`,
    ...(known && { hint: `For ${day}, tell the person the known balances: ${knownBalances(known, day!)}` }),
  }),
};

export const warnings = {
  "forecast_partial": (): string =>
    "This person does not see all payments, so the forecast is incomplete: it contains only the balances, bills and " +
    "spending that they see.",
};
