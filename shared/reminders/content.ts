/** The facts of a digest, which the database recorded when it was first sent (jobs.describe_digest). */
import * as z from "zod/mini";

/** A provider's report for a due date. */
export const ProviderWord = z.object({
  /** The date of the query, in the owner's time zone. */
  on: z.string(),
  provider: z.string(),
  currency: z.string(),
  /** Null when hidden. */
  amount: z.nullable(z.string()),
  /** The median of earlier amounts in this currency; null without any, or when hidden. */
  usual: z.nullable(z.string()),
});
export type ProviderWord = z.infer<typeof ProviderWord>;

/** One line: a due or overdue bill. Amounts are decimal strings. */
export const DigestBill = z.object({
  bill_id: z.string(),
  name: z.string(),
  /** The earliest date, if several are overdue. */
  due_on: z.string(),
  /** From today; negative when overdue. */
  days: z.number(),
  /** The number of due dates on the line. */
  dates: z.number(),
  autopay: z.boolean(),
  /** Whether the bill is due every day. */
  is_daily: z.boolean(),
  /** Another member, to whom the bill is assigned. */
  assignee: z.nullable(z.string()),
  currency: z.string(),
  /** The remaining amount; null when unknown or hidden. */
  amount: z.nullable(z.string()),
  /** Marking it paid requires an amount. */
  needs_amount: z.optional(z.boolean()),
  is_estimate: z.boolean(),
  /** Set if the amount came from a provider. */
  fetched: z.nullable(ProviderWord),
  /** A provider's report that was not applied, because it was far from usual or in another currency. */
  not_taken: z.nullable(ProviderWord),
  /** The previous amount. */
  earlier_amount: z.nullable(z.string()),
  /** The amount in the base currency if different; null when no rate is known. */
  base_amount: z.nullable(z.string()),
});
export type DigestBill = z.infer<typeof DigestBill>;

/** Lines that the list omits; the total includes them. */
export const Unlisted = z.object({
  overdue: z.number(),
  due: z.number(),
  /** The last due date of the omitted lines; null if none is due. */
  due_until: z.nullable(z.string()),
});
export type Unlisted = z.infer<typeof Unlisted>;

/**
 * The end of a trial, its first charge, the renewal or last day to cancel of a contract, a price rise, an automatic
 * payment without an amount, or a balance that will likely fall below the limit. Announced once, or once more near the
 * day.
 */
export const DigestNotice = z.object({
  kind: z.enum(["trial", "trial_charged", "cancel_by", "renewal", "price_rise", "awaited", "low_balance"]),
  /** Absent for a balance. */
  bill_id: z.optional(z.string()),
  /** The bill or account; for all accounts together, the organization. */
  name: z.string(),
  /**
   * The last day of a trial, the last day to cancel, the renewal, the first date with the new price, the due date, the
   * first day below the limit.
   */
  on: z.string(),
  /** From today. */
  days: z.number(),
  /** Another member to whom the bill is assigned. */
  assignee: z.nullable(z.string()),
  currency: z.string(),
  frequency: z.enum(["once", "daily", "weekly", "monthly", "yearly"]),
  every: z.number(),
  /** The number of years for which it renews. */
  term_years: z.number(),
  /** The same in months, 0 for an open end; null if unknown. Older databases store only years. */
  term_months: z.optional(z.nullable(z.number())),
  /** True for a recorded contract, false for a yearly bill. */
  is_contract: z.boolean(),
  /** With `cancel_by`: the renewal date unless it is cancelled. */
  renews_on: z.nullable(z.string()),
  /** With `cancel_by` of a recorded contract: its last day if it is cancelled by then, and how to cancel. */
  ends_on: z.optional(z.nullable(z.string())),
  form: z.optional(z.nullable(z.enum(["letter", "email", "online", "any"]))),
  /**
   * The bill's amount; for a contract, the amount of its next term; for a price rise, the new one; for a balance, the
   * likely one. Null when unknown or hidden.
   */
  amount: z.nullable(z.string()),
  /** The price before a rise. */
  earlier_amount: z.nullable(z.string()),
  /** With `trial_charged`: the payment was recorded automatically, and no statement shows it. */
  is_assumed: z.optional(z.nullable(z.boolean())),
  /**
   * With `low_balance`: the low end of the forecast and the limit, null when hidden, and whether it is the sum of all
   * accounts.
   */
  low: z.optional(z.nullable(z.string())),
  limit: z.optional(z.nullable(z.string())),
  is_total: z.optional(z.nullable(z.boolean())),
});
export type DigestNotice = z.infer<typeof DigestNotice>;

/** The used part of a budget in a month or year. */
export const DigestBudget = z.object({
  /** Null for the budget of all spending. */
  category: z.nullable(z.string()),
  per: z.enum(["month", "year"]),
  /** Whether the month or year has ended, a few days ago. */
  is_over: z.boolean(),
  /** Null when earlier overspending used up the budget. */
  used_percent: z.nullable(z.number()),
  currency: z.string(),
  /** Null when hidden. */
  spent: z.nullable(z.string()),
  /** Including carry-over; null when hidden. */
  available: z.nullable(z.string()),
  /** The budget, and its carry-over, negative when overspent; null when hidden. */
  limit: z.optional(z.nullable(z.string())),
  carried: z.optional(z.nullable(z.string())),
  /** The first day of the earlier month or year, if the budget carries over. */
  carried_from: z.optional(z.nullable(z.string())),
  /** Part of the spending could not be converted. */
  is_partial: z.boolean(),
});
export type DigestBudget = z.infer<typeof DigestBudget>;

/** The recipient's debt to somebody, or somebody's debt to the recipient. */
export const DigestBalance = z.object({
  owes: z.boolean(),
  /** Null for a former member. */
  who: z.nullable(z.string()),
  currency: z.string(),
  /** Null when hidden. */
  amount: z.nullable(z.string()),
});
export type DigestBalance = z.infer<typeof DigestBalance>;

export const DueAfter = z.object({
  name: z.string(),
  due_on: z.string(),
  currency: z.string(),
  /** Null when unknown or hidden. */
  amount: z.nullable(z.string()),
});

/** The features that end with a plan. */
export const PlanEnd = z.object({
  reason: z.enum(["trial", "past_due", "canceled"]),
  /** Today in the recipient's time zone. */
  on: z.string(),
  /** From today; negative after it. */
  days: z.number(),
  has_ended: z.boolean(),
  /** Whether this mail announces it. Other mails mention it beside their bills. */
  is_day: z.boolean(),
  /** The services that the recipient loses, in this order. */
  stops: z.array(z.enum(["reminders", "calendar", "amounts", "assistants"])),
  /** Only the owner can change the plan. */
  may_change: z.boolean(),
  owner: z.string(),
  /** The bills due in the month after the end, each once. */
  due: z.object({ bills: z.array(DueAfter), unlisted: z.number() }),
});
export type PlanEnd = z.infer<typeof PlanEnd>;

export const DigestOrganization = z.object({
  id: z.string(),
  name: z.string(),
  /** Why the recipient gets the mail: they own the books, chose all bills, or are assigned to some. */
  hears: z.enum(["owner", "all", "mine"]),
  base_currency: z.string(),
  /** Overdue first, then by due date; at most a hundred of each. */
  bills: z.array(DigestBill),
  unlisted: Unlisted,
  /** The total in the base currency; null when an amount or a rate is unknown. */
  total: z.nullable(z.string()),
  /** Date of the oldest exchange rate used; null without one. */
  rates_on: z.nullable(z.string()),
  /** Other upcoming dates, in order; at most fifty. */
  notices: z.array(DigestNotice),
  unlisted_notices: z.number(),
  /** Budgets that are 80 or 100 percent used, each listed once; at most twenty. */
  budgets: z.array(DigestBudget),
  unlisted_budgets: z.number(),
  /** Balances for shared costs, at most ten, in the first digest of a month. */
  balances: z.array(DigestBalance),
  /** Documents that arrived after the last digest, and the number that wait for a person; null without any. */
  documents: z.optional(z.nullable(z.object({ came: z.number(), waiting: z.number() }))),
  /** Mail to accept or block, and the day of the first deletion; null without any, and for other recipients. */
  mails: z.optional(z.nullable(z.object({ count: z.number(), until: z.string() }))),
  /** The end of the plan, if it is within a week or today; absent in older databases. */
  plan_end: z.optional(z.nullable(PlanEnd)),
});
export type DigestOrganization = z.infer<typeof DigestOrganization>;

export const Reconnect = z.object({
  bill_id: z.string(),
  name: z.string(),
  organization_id: z.string(),
  organization: z.string(),
  provider_key: z.string(),
  provider: z.string(),
});
export type Reconnect = z.infer<typeof Reconnect>;

export const DigestContent = z.object({
  address: z.string(),
  /** The recipient's country, ISO 3166-1 alpha-2, which determines the format of dates and numbers. */
  country: z.nullable(z.string()),
  /** Today in the recipient's time zone, YYYY-MM-DD; all days are relative to it. */
  today: z.string(),
  /** Whether the recipient wants no amounts in mails; all amounts are then null. */
  hides_amounts: z.boolean(),
  organizations: z.array(DigestOrganization),
  /** Their bills whose provider must be reconnected. */
  reconnect: z.array(Reconnect),
});
export type DigestContent = z.infer<typeof DigestContent>;

export const isOverdue = (bill: DigestBill): boolean => bill.days < 0;

/** All bills of a digest across organizations, overdue ones first, then by due date. */
export function billsOf({ organizations }: DigestContent): DigestBill[] {
  return organizations.flatMap(({ bills }) => bills).toSorted((a, b) =>
    a.days - b.days || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
  );
}

/** All notices of a digest across organizations, by date. */
export function noticesOf({ organizations }: DigestContent): DigestNotice[] {
  return organizations.flatMap(({ notices }) => notices).toSorted((a, b) =>
    a.days - b.days || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
  );
}

/** All budgets of a digest across organizations. */
export const budgetsOf = ({ organizations }: DigestContent): DigestBudget[] =>
  organizations.flatMap(({ budgets }) => budgets);

/** Documents and mails that wait for the reader's decision, across organizations. */
export const waitingOf = ({ organizations }: DigestContent): { documents: number; mails: number } => ({
  documents: organizations.reduce((sum, { documents }) => sum + (documents?.waiting ?? 0), 0),
  mails: organizations.reduce((sum, { mails }) => sum + (mails?.count ?? 0), 0),
});

/** Ends of plans that this mail announces. */
export const endsOf = ({ organizations }: DigestContent): (PlanEnd & { organization: string })[] =>
  organizations.flatMap(({ name, plan_end: end }) => end ? [{ ...end, organization: name }] : []);

/** The omitted lines, over all organizations. */
export function unlistedOf({ organizations }: DigestContent): Unlisted {
  const all = organizations.map(({ unlisted }) => unlisted);
  return {
    overdue: all.reduce((sum, { overdue }) => sum + overdue, 0),
    due: all.reduce((sum, { due }) => sum + due, 0),
    due_until: all.flatMap(({ due_until }) => due_until ?? []).toSorted().at(-1) ?? null,
  };
}

/** The links of a digest. */
export interface DigestLinks {
  account: string;
  /** The books page of an organization, which requires signing in. */
  books(organizationId: string): string;
  /** The page that changes the plan of an organization. */
  plan(organizationId: string): string;
  /** The page of an organization's incoming mail. */
  mails(organizationId: string): string;
  /** The page that connects a bill to its provider. */
  connect(bill: Pick<Reconnect, "bill_id" | "provider_key">): string;
  /** Signed; works without signing in for 90 days. */
  unsubscribe: string;
}
