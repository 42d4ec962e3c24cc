/** The facts of a digest, as the database recorded them when it was first sent (jobs.describe_digest). */

export interface DigestContent {
  address: string;
  /** The recipient's country, ISO 3166-1 alpha-2: determines how dates and numbers are written. */
  country: string | null;
  /** Today in the recipient's time zone, YYYY-MM-DD; all days are relative to it. */
  today: string;
  /** The recipient wants no amounts in mails; all amounts are null then. */
  hides_amounts: boolean;
  organizations: DigestOrganization[];
  /** Their bills whose provider has to be reconnected. */
  reconnect: Reconnect[];
}

export interface Reconnect {
  bill_id: string;
  name: string;
  organization_id: string;
  organization: string;
  provider_key: string;
  provider: string;
}

export interface DigestOrganization {
  id: string;
  name: string;
  /** Why the recipient gets the mail: they own the books, want all bills, or are assigned to some. */
  hears: "owner" | "all" | "mine";
  base_currency: string;
  /** Overdue first, then by due date; at most a hundred of each. */
  bills: DigestBill[];
  unlisted: Unlisted;
  /** All of them in the base currency; null when an amount or a rate is unknown. */
  total: string | null;
  /** Date of the oldest exchange rate used; null when none was. */
  rates_on: string | null;
  /** What else is coming, by date; at most fifty. */
  notices: DigestNotice[];
  unlisted_notices: number;
  /** Budgets of which 80 or 100 percent are used, each said once; at most twenty. */
  budgets: DigestBudget[];
  unlisted_budgets: number;
  /** Balances for shared costs, at most ten, in the first digest of a month. */
  balances: DigestBalance[];
  /** The end of the plan, when it comes within a week or came today; functions may be newer than the database. */
  plan_end?: PlanEnd | null;
}

/** What ends with a plan. */
export interface PlanEnd {
  reason: "trial" | "past_due" | "canceled";
  /** The recipient's day. */
  on: string;
  /** From today; negative after it. */
  days: number;
  has_ended: boolean;
  /** This is the one mail about it; others mention it beside their bills. */
  is_day: boolean;
  /** What the recipient loses, in this order. */
  stops: ("reminders" | "calendar" | "amounts" | "assistants")[];
  /** Only the owner can change the plan. */
  may_change: boolean;
  owner: string;
  /** What falls due in the month after that, each bill once. */
  due: { bills: DueAfter[]; unlisted: number };
}

export interface DueAfter {
  name: string;
  due_on: string;
  currency: string;
  /** Null when unknown or hidden. */
  amount: string | null;
}

/** What the recipient owes somebody, or is owed. */
export interface DigestBalance {
  owes: boolean;
  /** Null for a former member. */
  who: string | null;
  currency: string;
  /** Null when hidden. */
  amount: string | null;
}

/** What was spent of a budget in a month or year. */
export interface DigestBudget {
  /** Null for the budget of all spending. */
  category: string | null;
  per: "month" | "year";
  /** The month or year has ended, a few days ago. */
  is_over: boolean;
  /** Null when earlier overspending used up the budget. */
  used_percent: number | null;
  currency: string;
  /** Null when hidden. */
  spent: string | null;
  /** Including carry-over; null when hidden. */
  available: string | null;
  /** The budget, and its carry-over, negative when overspent; null when hidden. */
  limit?: string | null;
  carried?: string | null;
  /** The first day of the month or year that it was carried over from, where it was one. */
  carried_from?: string | null;
  /** Part of the spending could not be converted. */
  is_partial: boolean;
}

/**
 * A trial that ends, a contract to cancel or that renews, a price that rises, an automatic payment without an amount.
 * Said once, or once more near the day.
 */
export interface DigestNotice {
  kind: "trial" | "cancel_by" | "renewal" | "price_rise" | "awaited";
  bill_id: string;
  name: string;
  /** The last day of a trial, the last day to cancel, the renewal, the first date with the new price, the due date. */
  on: string;
  /** From today. */
  days: number;
  /** Another member who looks after it. */
  assignee: string | null;
  currency: string;
  frequency: "once" | "daily" | "weekly" | "monthly" | "yearly";
  every: number;
  /** For how many years it renews. */
  term_years: number;
  /** Whether it renews by a contract; else it is a yearly bill that comes again. */
  is_contract: boolean;
  /** With `cancel_by`: when it renews unless cancelled. */
  renews_on: string | null;
  /** The bill's amount, of a contract that of its next term, of a rise the new one; null when unknown or hidden. */
  amount: string | null;
  /** The price before a rise. */
  earlier_amount: string | null;
}

/** Lines left out of the list; the total includes them. */
export interface Unlisted {
  overdue: number;
  due: number;
  /** When the last of those is due; null if none is. */
  due_until: string | null;
}

/** One line: a due or overdue bill. Amounts are decimal strings. */
export interface DigestBill {
  bill_id: string;
  name: string;
  /** The earliest, if several dates are overdue. */
  due_on: string;
  /** From today; negative when overdue. */
  days: number;
  /** How many due dates the line covers. */
  dates: number;
  autopay: boolean;
  /** Due every day. */
  is_daily: boolean;
  /** Another member who looks after it. */
  assignee: string | null;
  currency: string;
  /** The remaining amount; null when unknown or hidden. */
  amount: string | null;
  /** Paying it needs an amount. */
  needs_amount?: boolean;
  is_estimate: boolean;
  /** If the amount came from a provider. */
  fetched: ProviderWord | null;
  /** What a provider reported but was not applied: far from usual, or in another currency. */
  not_taken: ProviderWord | null;
  /** The previous amount. */
  earlier_amount: string | null;
  /** The amount in the base currency if different; null when no rate is known. */
  base_amount: string | null;
}

/** What a provider reported for a due date. */
export interface ProviderWord {
  /** When it was queried, as a date of the owner. */
  on: string;
  provider: string;
  currency: string;
  /** Null when hidden. */
  amount: string | null;
  /** The median of earlier amounts in this currency; null without any, or when hidden. */
  usual: string | null;
}

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

/** Ends of plans that this mail is about. */
export const endsOf = ({ organizations }: DigestContent): (PlanEnd & { organization: string })[] =>
  organizations.flatMap(({ name, plan_end: end }) => end ? [{ ...end, organization: name }] : []);

/** The lines left out, over all organizations. */
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
  /** Where the plan of an organization is chosen. */
  plan(organizationId: string): string;
  /** Where a bill is connected to its provider. */
  connect(bill: Pick<Reconnect, "bill_id" | "provider_key">): string;
  /** Signed; works without signing in for 90 days. */
  unsubscribe: string;
}
