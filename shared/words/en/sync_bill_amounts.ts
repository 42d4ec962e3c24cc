/** Words of `sync_bill_amounts`. */
import type { Question } from "../facts.ts";
import type { Money, Progress, Refusal } from "../message.ts";
import { count, money, names } from "./phrases.ts";
import { question } from "./review_bills.ts";

export const refusals = {
  "not_found.connection": ({ organization }: { organization: string }): Refusal => ({
    message: `No bill of ${organization} is connected to a provider, so nothing was fetched.`,
    hint:
      'update_bill with provider {"action": "connect", "provider": "openai"} gives the link that connects a bill. ' +
      'Or enter the amount: update_bill with occurrence action "set_amount".',
  }),
  "date_out_of_range.month_to_come": ({ month }: { month: string }): Refusal => ({
    message: `${month} has not begun yet.`,
    hint: "Give YYYY-MM, or leave it out for this month.",
  }),
};

/** Facts about the bill, its provider and the month; each sentence uses some of them. */
interface Asked {
  name: string;
  provider: string;
  /** YYYY-MM */
  month: string;
  status: string;
  due_on: string;
}

/** The outcome of querying a provider, by the database's code. */
export const outcomes = {
  taken: ({ name, due_on, ...cost }: Asked & Money) => `${name} due ${due_on} is ${money(cost)}.`,
  corrected: ({ name, due_on, old, ...cost }: Asked & Money & { old: string }) =>
    `${name} due ${due_on} was ${money(cost)}, not the estimated ${old}; the payment is corrected.`,
  same_amount: ({ name }: Asked) => `${name} now has the same amount every time.`,
  not_due: ({ name, month }: Asked) => `${name} is not due in ${month}.`,
  question: (asked: Asked & Question) => question(asked),
  set_by_hand: ({ name }: Asked) => `The amount of ${name} was set by hand and stays as it is.`,
  unchanged: ({ name }: Asked) => `The amount of ${name} is unchanged.`,
  not_ready: ({ provider, month }: Asked) => `${provider} has no statement for ${month} yet.`,
  auth: ({ name, provider }: Asked) =>
    `The owner has to reconnect ${name} to ${provider}: update_bill with provider connect gives the link.`,
  rate_limited: ({ provider }: Asked) => `${provider} asked us to wait. Try again later.`,
  no_adapter: ({ name, provider }: Asked) =>
    `Amounts cannot be fetched from ${provider}; enter the amount of ${name} by hand.`,
  failed: ({ name, provider }: Asked) =>
    `The amount of ${name} could not be fetched from ${provider}. Try again in an hour.`,
  not_connected: ({ name }: Asked) =>
    `${name} is not connected to a provider: update_bill with provider connect gives a link.`,
  connection_not_ready: ({ name, provider }: Asked) =>
    `The connection of ${name} to ${provider} is not ready. The account page says why.`,
  bill_inactive: ({ name, status, provider }: Asked) => `${name} is ${status}, so nothing is fetched from ${provider}.`,
  same_amount_not_asked: ({ name, provider }: Asked) =>
    `${name} has the same amount every time, so nothing is fetched from ${provider}.`,
  being_asked: ({ name, provider }: Asked) => `The amount of ${name} is being fetched from ${provider} right now.`,
  asked_lately: ({ name }: Asked) => `The amount of ${name} was last requested less than an hour ago. Try again later.`,
  not_asked_yet: ({ name, provider }: Asked) =>
    `The amount of ${name} was not fetched from ${provider} this time. Call again for the rest.`,
  connection_changed: ({ name }: Asked) =>
    `The connection of ${name} changed while its amount was being fetched. Try again.`,
};

export const progress = {
  sync_bill_amounts: ({ progress, total }: Progress): string => `${progress} of ${count(total, "bill")} done.`,
};

/** Summaries in the list of recent changes, of a person's call or the job. */
export const changes = {
  store_bill_amounts: ({ names: bills }: { names: string[] }): string => `Fetched amounts: ${names(bills)}`,
};
export const fetchedFrom = ({ provider, outcome }: { provider: string; outcome: string }): string =>
  `Fetched from ${provider}: ${outcome}`;
