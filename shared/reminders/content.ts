/** The facts of a digest, as the database wrote them down when it was first sent (jobs.describe_digest). */

export interface DigestContent {
  address: string;
  /** The owner's country, ISO 3166-1 alpha-2: it decides how dates and numbers are written. */
  country: string | null;
  /** The owner's date, YYYY-MM-DD, that everything is told from. */
  today: string;
  /** The owner wants no amounts in mails; there are none in here then. */
  hides_amounts: boolean;
  organizations: DigestOrganization[];
  /** Bills of theirs whose provider has to be connected again. */
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
  /** Overdue first, then as they fall due; a hundred of either at most. */
  bills: DigestBill[];
  unlisted: Unlisted;
  /** All of them in the base currency; null when an amount or a rate is not known. */
  total: string | null;
  /** The oldest day of the exchange rates in it; null when there are none in it. */
  rates_on: string | null;
}

/** How many further lines there would be; the total counts them. */
export interface Unlisted {
  overdue: number;
  due: number;
  /** When the last of those that fall due does; null without any. */
  due_until: string | null;
}

/** One line: what falls due of a bill, or what is overdue of it. Amounts are decimal strings. */
export interface DigestBill {
  bill_id: string;
  name: string;
  /** The earliest, where several dates are overdue. */
  due_on: string;
  /** From today; negative when overdue. */
  days: number;
  /** How many due dates the line stands for. */
  dates: number;
  autopay: boolean;
  /** Another one falls due every day. */
  is_daily: boolean;
  currency: string;
  /** What remains to be paid; null when it is not known, or hidden. */
  amount: string | null;
  is_estimate: boolean;
  /** Where the amount came from a provider. */
  fetched: ProviderWord | null;
  /** What a provider says and nobody took over: it is far from usual, or in another currency. */
  not_taken: ProviderWord | null;
  /** What it cost the last time. */
  earlier_amount: string | null;
  /** The amount in the base currency where that is another one; null when no rate is known. */
  base_amount: string | null;
}

/** What a provider said of a due date. */
export interface ProviderWord {
  /** The owner's date on which it was asked. */
  on: string;
  provider: string;
  currency: string;
  /** Null when hidden. */
  amount: string | null;
  /** The median of earlier amounts in this currency; null when there are none, or hidden. */
  usual: string | null;
}

export const isOverdue = (bill: DigestBill): boolean => bill.days < 0;

/** Every bill of a digest, overdue ones first, then by due date, whatever organization it belongs to. */
export function billsOf({ organizations }: DigestContent): DigestBill[] {
  return organizations.flatMap(({ bills }) => bills).toSorted((a, b) =>
    a.days - b.days || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
  );
}

/** What no organization's lines say. */
export function unlistedOf({ organizations }: DigestContent): Unlisted {
  const all = organizations.map(({ unlisted }) => unlisted);
  return {
    overdue: all.reduce((sum, { overdue }) => sum + overdue, 0),
    due: all.reduce((sum, { due }) => sum + due, 0),
    due_until: all.flatMap(({ due_until }) => due_until ?? []).toSorted().at(-1) ?? null,
  };
}

/** Where a digest's links lead. */
export interface DigestLinks {
  account: string;
  /** Where a bill is connected to its provider. */
  connect(bill: Pick<Reconnect, "bill_id" | "provider_key">): string;
  /** Signed; for 90 days it works without signing in. */
  unsubscribe: string;
}
