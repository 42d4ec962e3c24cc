/** Words of `sync_bill_amounts`. */
import type { Money, Refusal } from "../message.ts";
import { date, money, names } from "./phrases.ts";
import { type Question, question } from "./review_bills.ts";

export const refusals = {
  "date_out_of_range.month_to_come": ({ month }: { month: string }): Refusal => ({
    message: `${month} is not a month that has begun.`,
    hint: "Give YYYY-MM, or leave it out for this month.",
  }),
};

/** Of the bill, its provider and the month asked for; each sentence takes what it needs. */
interface Asked {
  name: string;
  provider: string;
  /** YYYY-MM */
  month: string;
  status: string;
  due_on: string;
}

const month = (yearAndMonth: string) => date(`${yearAndMonth}-01`, { month: "long", year: "numeric" });

/** What became of asking a provider, by the code that the database names. */
export const outcomes = {
  taken: ({ name, due_on, ...cost }: Asked & Money) => `${name} due ${due_on} is ${money(cost)}.`,
  same_amount: ({ name }: Asked) => `${name} now has the same amount every time.`,
  not_due: ({ name, month: due }: Asked) => `${name} is not due in ${month(due)}.`,
  question: (asked: Asked & Question) => question(asked),
  set_by_hand: ({ name }: Asked) => `The amount of ${name} stays as it was set by hand.`,
  unchanged: ({ name }: Asked) => `The amount of ${name} is as it was.`,
  not_ready: ({ provider, month: of }: Asked) => `${provider} has no statement for ${month(of)} yet.`,
  auth: ({ name, provider }: Asked) =>
    `The owner has to reconnect ${name} to ${provider}: update_bill with provider connect says where.`,
  rate_limited: ({ provider }: Asked) => `${provider} asked for a pause. Try again later.`,
  no_adapter: ({ name, provider }: Asked) =>
    `Amounts cannot be fetched from ${provider}; enter the amount of ${name} by hand.`,
  failed: ({ name, provider }: Asked) =>
    `The amount of ${name} could not be fetched from ${provider}. Try again in an hour.`,
  not_connected: ({ name }: Asked) => `${name} is not connected to a provider.`,
  connection_not_ready: ({ name, provider }: Asked) => `The connection of ${name} to ${provider} is not ready.`,
  bill_inactive: ({ name, status, provider }: Asked) => `${name} is ${status}, so ${provider} is not asked.`,
  same_amount_not_asked: ({ name, provider }: Asked) =>
    `${name} has the same amount every time, so ${provider} is not asked.`,
  being_asked: ({ name, provider }: Asked) => `${provider} is being asked for the amount of ${name} right now.`,
  asked_lately: ({ name }: Asked) => `The amount of ${name} was asked for less than an hour ago.`,
  not_asked_yet: ({ name, provider }: Asked) =>
    `${provider} was not asked for the amount of ${name} this time. Call again for the rest.`,
  connection_changed: ({ name }: Asked) => `The connection of ${name} changed while its provider was asked. Try again.`,
};

/** What the list of recent changes says of it: a person asked, or the job did. */
export const changes = {
  store_bill_amounts: ({ names: bills }: { names: string[] }): string => `Fetched amounts: ${names(bills)}`,
};
export const fetchedFrom = ({ provider, outcome }: { provider: string; outcome: string }): string =>
  `Fetched from ${provider}: ${outcome}`;
