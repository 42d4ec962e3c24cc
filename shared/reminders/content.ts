/** The facts of a digest, as the database recorded them when it was first sent (jobs.describe_digest). */

export interface DigestContent {
  address: string;
  /** The owner's country, ISO 3166-1 alpha-2: determines how dates and numbers are written. */
  country: string | null;
  /** Today in the owner's time zone, YYYY-MM-DD; all days are relative to it. */
  today: string;
  /** The owner wants no amounts in mails; all amounts are null then. */
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
  base_currency: string;
  /** Overdue first, then by due date; at most a hundred of each. */
  bills: DigestBill[];
  unlisted: Unlisted;
  /** All of them in the base currency; null when an amount or a rate is unknown. */
  total: string | null;
  /** Date of the oldest exchange rate used; null when none was. */
  rates_on: string | null;
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
  currency: string;
  /** The remaining amount; null when unknown or hidden. */
  amount: string | null;
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
  /** The median of earlier amounts in this currency; null when there are none, or hidden. */
  usual: string | null;
}

export const isOverdue = (bill: DigestBill): boolean => bill.days < 0;

/** All bills of a digest across organizations, overdue ones first, then by due date. */
export function billsOf({ organizations }: DigestContent): DigestBill[] {
  return organizations.flatMap(({ bills }) => bills).toSorted((a, b) =>
    a.days - b.days || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
  );
}

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
  /** Where a bill is connected to its provider. */
  connect(bill: Pick<Reconnect, "bill_id" | "provider_key">): string;
  /** Signed; works without signing in for 90 days. */
  unsubscribe: string;
}
