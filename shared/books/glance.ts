/** The content of the books page: the envelopes of the tools that `public.read_books` runs. */
import * as z from "zod/mini";
import { ShownDocument } from "../documents/shown.ts";
import { outcome } from "../outcome.ts";
import { OrganizationState } from "../organization_state.ts";
import { Sharing } from "../words/effects.ts";
import { Group } from "../words/facts.ts";

export const DatesInWindow = z.object({ count: z.number(), amount: z.optional(z.string()) });
export type DatesInWindow = z.infer<typeof DatesInWindow>;

export const DueBill = z.object({
  id: z.string(),
  name: z.string(),
  currency: z.string(),
  /** The amount of the next date; absent while it is unknown. */
  amount: z.optional(z.string()),
  /** The unpaid rest of the next date after a part payment. */
  remaining: z.optional(z.string()),
  usual_amount: z.optional(z.string()),
  /** Whether the amount of the next date is an estimate. */
  is_estimate: z.optional(z.boolean()),
  amount_mode: z.enum(["fixed", "estimated", "variable"]),
  /** The currency of the next date, if it differs from the bill's. */
  due_currency: z.optional(z.string()),
  next_due: z.optional(z.string()),
  autopay: z.boolean(),
  overdue: z.array(z.object({
    due_on: z.string(),
    amount: z.optional(z.nullable(z.string())),
    currency: z.optional(z.nullable(z.string())),
    is_estimate: z.optional(z.nullable(z.boolean())),
  })),
  overdue_count: z.optional(z.number()),
  /** Absent when no payer is set; then the person who pays becomes the payer. */
  paid_by: z.optional(z.string()),
  shared: z.optional(Sharing),
  /** Whether a document is attached to the earliest open date. */
  has_document: z.optional(z.boolean()),
  /** Past dates of automatic payments without an amount: neither paid nor overdue. */
  awaiting_amount: z.optional(z.array(z.string())),
  /** The part in the totals; the amount is absent when unknown. */
  due_in_window: z.optional(DatesInWindow),
});
export type DueBill = z.infer<typeof DueBill>;

export const SpendingRow = z.object({
  /** A name, or the reason why it is missing. */
  group: z.tuple([Group]),
  amount: z.string(),
  count: z.number(),
});

export const Budget = z.object({
  category: z.optional(z.nullable(z.string())),
  per: z.enum(["month", "year"]),
  amount: z.string(),
  /** The carry-over from earlier months or years; negative after overspending. */
  carried: z.optional(z.string()),
  spent: z.string(),
  /** The rest of the amount including carry-over. */
  left: z.string(),
  /** Absent when earlier overspending used up the budget. */
  used_percent: z.optional(z.number()),
  currency: z.string(),
});
export type Budget = z.infer<typeof Budget>;

/** Debtor and creditor; a former member is absent. */
export const Balance = z.object({
  from: z.optional(z.string()),
  to: z.optional(z.string()),
  amount: z.string(),
  currency: z.string(),
});
export type Balance = z.infer<typeof Balance>;

export const ExpenseRow = z.object({
  id: z.string(),
  date: z.string(),
  name: z.string(),
  payee: z.optional(z.string()),
  category: z.optional(z.string()),
  amount: z.string(),
  currency: z.string(),
  kind: z.enum(["one_off", "bill_payment", "refund"]),
  is_estimate: z.optional(z.nullable(z.boolean())),
  has_document: z.optional(z.nullable(z.boolean())),
  /** The payer and each member's share; a former member is absent. */
  shared: z.optional(z.object({
    paid_by: z.optional(z.string()),
    shares: z.array(z.object({ member: z.optional(z.string()), amount: z.string() })),
  })),
});
export type ExpenseRow = z.infer<typeof ExpenseRow>;

export const Paid = z.object({
  change_id: z.string(),
  facts: z.object({
    name: z.string(),
    due_on: z.string(),
    amount: z.string(),
    currency: z.string(),
    paid_on: z.string(),
  }),
  is_undone: z.boolean(),
});
export type Paid = z.infer<typeof Paid>;

/** Amounts by currency, decimal strings. */
export const Sums = z.record(z.string(), z.string());
export type Sums = z.infer<typeof Sums>;

export const Glance = outcome(["found"], {
  organizations: z.array(z.object({ id: z.string(), name: z.string() })),
  organization: z.object({ id: z.string(), name: z.string() }),
  base_currency: z.string(),
  country: z.string(),
  today: z.string(),
  /** The first day of the month on the page. */
  month: z.string(),
  state: OrganizationState,
  /** Whether the reader may change anything now, according to role, plan and state. */
  may_write: z.boolean(),
  may_export: z.boolean(),
  bills: z.nullable(z.object({
    data: z.object({
      bills: z.array(DueBill),
      totals: z.optional(z.object({ due: z.object({ estimated: z.optional(z.string()) }) })),
    }),
    totals_by_currency: z.nullable(Sums),
    next_cursor: z.optional(z.nullable(z.string())),
    warnings: z.optional(z.nullable(z.array(z.object({ code: z.string() })))),
  })),
  spending: z.nullable(z.object({
    data: z.object({
      rows: z.array(SpendingRow),
      total: z.object({
        amount: z.string(),
        currency: z.string(),
        /**
         * Compared with the previous month, up to the same day if the month is still running; absent when that month
         * had no spending.
         */
        change_percent: z.optional(z.nullable(z.number())),
      }),
      budgets: z.optional(z.nullable(z.array(Budget))),
      unconverted: z.optional(
        z.nullable(z.array(z.object({ currency: z.string(), amount: z.string(), count: z.number() }))),
      ),
    }),
  })),
  /** The month's income; absent in the previous version's response. */
  income: z.optional(z.nullable(z.object({
    data: z.object({
      total: z.object({ amount: z.string(), currency: z.string(), count: z.number() }),
      unconverted: z.array(z.object({ currency: z.string(), amount: z.string(), count: z.number() })),
    }),
  }))),
  balances: z.nullable(
    z.object({ data: z.object({ user: z.object({ email: z.string() }), balances: z.array(Balance) }) }),
  ),
  /** Documents without a record; absent in the previous version's response. */
  documents: z.optional(
    z.nullable(z.object({ data: z.object({ documents: z.array(ShownDocument), count: z.number() }) })),
  ),
  expenses: z.object({
    ok: z.boolean(),
    data: z.optional(z.object({ rows: z.array(ExpenseRow) })),
    total_count: z.optional(z.number()),
    totals_by_currency: z.optional(Sums),
    next_cursor: z.optional(z.nullable(z.string())),
  }),
  paid: z.nullable(Paid),
});
export type Glance = z.infer<typeof Glance>;

/** Whether the totals omit amounts that aren't known yet. */
export const lacksAmounts = (warnings: NonNullable<Glance["bills"]>["warnings"]): boolean =>
  !!warnings?.some(({ code }) => code === "amount_missing.of_dates");

/** One open date of a bill. */
export interface DueDate {
  bill: DueBill;
  dueOn: string;
  /** The unpaid amount; undefined while it is unknown. */
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

/** Whether the books are empty and the reader can fill them. */
export const isNew = ({ may_write: mayWrite, expenses, bills }: Glance): boolean =>
  mayWrite && !expenses.data?.rows.length && !bills?.data.bills.length;
