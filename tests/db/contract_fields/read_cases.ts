/** The fields of the tools that only read. */
import type { Ids } from "./books.ts";
import { between, type Case, type Cases } from "./case.ts";

export const PAYMENTS: Record<string, Case> = {
  from: between("2026-11-01", "2026-11-15"),
  to: between("2026-11-01", "2026-11-15"),
  query: between("soup", undefined),
  categories: between(["Food"], ["Transport"]),
  not_categories: between(["Food"], ["Transport"]),
  tags: between(["team"], undefined),
  member: between("me", "nobody"),
  recorded_by: between("me", "nobody"),
  payee: between("Café", undefined),
  min_amount: between("10", "25"),
  max_amount: between("10", "25"),
  currency: between("USD", "EUR"),
  kind: between("one_off", "bill_payment"),
  reimbursement: between("open", "none"),
};

export const readCases = (ids: Ids): Cases => ({
  get_context: {
    include: between(["categories"], ["members"]),
    changes_limit: between(1, 2, { include: ["recent_changes"] }),
    "changes.from": between("2026-11-20", "2026-09-01"),
    "changes.to": between("2026-11-20", "2026-10-01"),
    "changes.member": between("me", "nobody"),
    "changes.client": between("Tests", "nobody"),
    "changes.record": between(ids.Rent, ids.Water),
    "changes.limit": between(1, 2),
  },
  list_expenses: {
    ...PAYMENTS,
    has_document: between(true, false),
    sort: between("date", "amount"),
    order: between("asc", "desc"),
    limit: between(1, 2),
    cursor: between(undefined, ids.cursor, { limit: 2 }),
    format: between("json", "csv"),
  },
  summarize_spending: {
    borne_by: between("me", "nobody"),
    ...Object.fromEntries(
      Object.entries(PAYMENTS).map(([name, { values: [a, b] }]) => [
        name,
        between(
          a,
          b,
          name === "from" ? { to: "2026-11-20" } : { from: "2026-10-01", ...(name !== "to" && { to: "2026-11-20" }) },
        ),
      ]),
    ),
    period: between("this_month", "last_month"),
    group_by: between(["category"], ["payee"]),
    in_currency: between("USD", "EUR"),
    compare: between("none", "previous_period", { period: "this_month" }),
    include_upcoming: between(true, false, { period: "this_month" }),
    top: between(1, 2, { from: "2026-10-01", to: "2026-11-20" }),
  },
  show_spending_chart: {
    chart: between("by_category", "over_time"),
    period: between("this_month", "last_month"),
    from: between("2026-11-01", "2026-11-15", { to: "2026-11-20" }),
    to: between("2026-11-12", "2026-11-20", { from: "2026-11-01" }),
    in_currency: between("USD", "EUR"),
    categories: between(["Food"], ["Transport"]),
  },
  list_bills: {
    bill_id: between(ids.Rent, ids.Water),
    status: between("active", "paused"),
    state: between("overdue", "upcoming"),
    due_within_days: between(1, 60),
    query: between("Rent", "Water"),
    category: between("Housing", "Utilities"),
    has_document: between(true, false),
    in_currency: between("USD", "EUR"),
    limit: between(1, 2),
    cursor: between(undefined, ids.bills_cursor, { limit: 2 }),
  },
  list_documents: {
    document_id: between(ids.invoice, ids.receipt),
    is_filed: between(true, false),
    query: between("b.pdf", "c.pdf"),
  },
  reconcile: {
    account: between("Giro", "Visa"),
    from: between("2026-11-01", "2026-11-12", { account: "Giro" }),
    to: between("2026-11-11", "2026-11-20", { account: "Giro" }),
  },
  forecast: {
    until: between("2026-12-10", "2027-02-10"),
    account: between("Giro", "Visa"),
    spend: between("10", "20"),
    on: between("2026-12-01", "2026-12-20", { spend: "10" }),
  },
  review_bills: {
    horizon_days: between(5, 90),
    lookback_months: between(1, 24),
  },
});
