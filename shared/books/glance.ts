/** What the page of the books shows: the envelopes of the tools that it reads by (`public.read_books`). */
import type { OrganizationState } from "../organization_state.ts";
import type { Sharing } from "../words/effects.ts";
import type { Words } from "../words/words.ts";

export interface DueBill {
  id: string;
  name: string;
  currency: string;
  /** Of the next date; absent when nobody knows it yet. */
  amount?: string;
  /** What is left of the next date when a part is paid. */
  remaining?: string;
  usual_amount?: string;
  /** Of the amount of the next date. */
  is_estimate?: boolean;
  amount_mode: "fixed" | "estimated" | "variable";
  /** What the next date is in, when it is not in the currency of the bill. */
  due_currency?: string;
  next_due?: string;
  autopay: boolean;
  overdue: { due_on: string; amount?: string | null; currency?: string | null; is_estimate?: boolean | null }[];
  overdue_count?: number;
  /** Missing when no payer is set; then whoever pays is the payer. */
  paid_by?: string;
  shared?: Sharing;
  /** Past dates of automatic payments without an amount: neither paid nor overdue. */
  awaiting_amount?: string[];
  /** The part in the totals; the amount is absent when unknown. */
  due_in_window?: DatesInWindow;
}

export interface DatesInWindow {
  count: number;
  amount?: string;
}

export interface SpendingRow {
  /** One name, or why it is missing. */
  group: [string | { none: keyof Words["groups"] }];
  amount: string;
  count: number;
}

export interface Budget {
  category?: string | null;
  per: "month" | "year";
  amount: string;
  /** What was left of earlier months or years, or overspent in them. */
  carried?: string;
  spent: string;
  /** Of the amount including carry-over. */
  left: string;
  /** Absent when earlier overspending used up the budget. */
  used_percent?: number;
  currency: string;
}

/** Debtor and creditor; a former member is missing. */
export interface Balance {
  from?: string;
  to?: string;
  amount: string;
  currency: string;
}

export interface ExpenseRow {
  id: string;
  date: string;
  name: string;
  payee: string | null;
  category: string | null;
  amount: string;
  currency: string;
  kind: "one_off" | "bill_payment" | "refund";
  is_estimate?: boolean | null;
  /** The payer and each member's share; a former member is missing. */
  shared?: { paid_by?: string; shares: { member?: string; amount: string }[] };
}

export interface Paid {
  change_id: string;
  facts: { name: string; due_on: string; amount: string; currency: string; paid_on: string };
  is_undone: boolean;
}

/** Amounts by currency, decimal strings. */
export type Sums = Record<string, string>;

export interface Glance {
  outcome: "found";
  organizations: { id: string; name: string }[];
  organization: { id: string; name: string };
  base_currency: string;
  country: string;
  today: string;
  /** The first day of the month that is shown. */
  month: string;
  state: OrganizationState;
  /** Whether the reader may change anything now: by role, plan and state. */
  may_write: boolean;
  may_export: boolean;
  bills: {
    data: { bills: DueBill[]; totals?: { due: { estimated?: string } } };
    totals_by_currency: Sums | null;
    next_cursor?: string | null;
    warnings?: { code: string }[] | null;
  } | null;
  spending: {
    data: {
      rows: SpendingRow[];
      total: { amount: string; currency: string };
      budgets?: Budget[] | null;
      unconverted?: { currency: string; amount: string; count: number }[] | null;
    };
  } | null;
  balances: { data: { user: { email: string }; balances: Balance[] } } | null;
  expenses: {
    ok: boolean;
    data?: { rows: ExpenseRow[] };
    total_count?: number;
    totals_by_currency?: Sums;
    next_cursor?: string | null;
  };
  paid: Paid | null;
}

/** One date of a bill that waits to be paid. */
export interface DueDate {
  bill: DueBill;
  dueOn: string;
  /** What remains to be paid; undefined when nobody knows it yet. */
  amount: string | undefined;
  currency: string;
  isEstimate: boolean;
  isOverdue: boolean;
  /** Set on a bill's last visible date when more exist: the total number of dates, including this one. */
  all?: DatesInWindow;
}

/**
 * The dates of bills, the earliest first. Automatic payments that wait for an amount are not overdue.
 * @param until the last day to show, YYYY-MM-DD.
 */
export function dueDates(bills: readonly DueBill[], until: string): DueDate[] {
  const dates = bills.flatMap((bill): DueDate[] => {
    const counted = [
      ...bill.overdue.map(({ due_on, amount, currency, is_estimate }) => ({
        bill,
        dueOn: due_on,
        amount: amount ?? undefined,
        currency: currency ?? bill.currency,
        isEstimate: is_estimate ?? false,
        isOverdue: true,
      })),
      ...(bill.next_due && bill.next_due <= until
        ? [{
          bill,
          dueOn: bill.next_due,
          amount: bill.remaining ?? bill.amount,
          currency: bill.due_currency ?? bill.currency,
          isEstimate: bill.is_estimate ?? false,
          isOverdue: false,
        }]
        : []),
    ];
    const { due_in_window: all } = bill;
    return [
      ...(bill.awaiting_amount ?? []).map((dueOn) => ({
        bill,
        dueOn,
        amount: undefined,
        currency: bill.currency,
        isEstimate: false,
        isOverdue: false,
      })),
      ...counted.map((date, place) =>
        all && all.count > counted.length && place === counted.length - 1 ? { ...date, all } : date
      ),
    ];
  });
  return dates.toSorted((one, other) => one.dueOn < other.dueOn ? -1 : one.dueOn > other.dueOn ? 1 : 0);
}
