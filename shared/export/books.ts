/**
 * The files of an export of an organization's books, one per kind of record, with their columns. The export omits
 * other columns of the database.
 */

/** The type of a value; `?` marks an optional one. Decimals are text, because JSON numbers lose digits. */
export type ColumnType = "text" | "integer" | "flag" | "day" | "instant" | "decimal" | "texts" | "integers" | "object";
export type Columns = Readonly<Record<string, ColumnType | `${ColumnType}?`>>;

const STAMPS = { version: "integer", created_at: "instant", updated_at: "instant" } as const;
const WHAT = {
  ...{ name: "text", payee: "text?", category: "text?", category_id: "text?" },
  ...{ tags: "texts", note: "text?", url: "text?" },
} as const satisfies Columns;

/** In the order of the archive; each is a part of `public.read_export`. */
export const BOOKS = {
  settings: {
    ...{ id: "text", name: "text", base_currency: "text", timezone: "text", closed_through: "day?" },
    ...{ own_only: "flag", relabel_closed: "flag", low_balance_limit: "decimal?", low_balance_currency: "text?" },
    ...{ datev: "object?", plan: "text", trial_ends_at: "instant?" },
    created_at: "instant",
  },
  members: { email: "text", role: "text", sees_private: "flag", mails: "text", since: "instant" },
  categories: { id: "text", name: "text", is_private: "flag", archived_at: "instant?", ...STAMPS },
  expenses: { id: "text", ...WHAT, source: "text", external_id: "text?", created_by: "text?", ...STAMPS },
  bills: {
    ...{ id: "text", ...WHAT, amount_mode: "text", amount: "decimal?", currency: "text", share_percent: "decimal" },
    ...{ earlier_amount: "decimal?", price_from: "day?" },
    ...{ frequency: "text", every: "integer", anchor_on: "day", month_days: "integers?", weekend_rule: "text" },
    ...{ ends_on: "day?", ends_after: "integer?", tracked_from: "day", next_due: "day?", autopay: "flag" },
    ...{ trial_ends_on: "day?", renews_on: "day?", notice_days: "integer?", contract: "object?" },
    ...{ status: "text", paused_until: "day?" },
    ...{ reminder_enabled: "flag", remind_days_before: "integer?", remind_again: "integers" },
    ...{ assignee: "text?", paid_by: "text?", shared: "object?", created_by: "text?", ...STAMPS },
  },
  occurrences: {
    ...{ id: "text", bill_id: "text", bill: "text", scheduled_on: "day", due_on: "day" },
    ...{ expected_amount: "decimal?", paid_amount: "decimal", currency: "text", amount_source: "text" },
    ...{ status: "text", snoozed_until: "day?", closed_at: "instant?", ...STAMPS },
  },
  payments: {
    ...{ id: "text", kind: "text", date: "day", ...WHAT, amount: "decimal", tax: "decimal?" },
    ...{ tax_percent: "decimal?", net: "decimal?", currency: "text" },
    ...{ charged_amount: "decimal?", charged_currency: "text?", base_amount: "decimal?", base_currency: "text" },
    ...{ fx_rate: "decimal?", fx_rate_on: "day?", fx_source: "text?", is_final: "flag", is_estimate: "flag" },
    ...{ reimbursement: "text?", reimbursed_by: "text?", reimbursed_on: "day?", split_id: "text?" },
    document_ids: "texts",
    ...{ expense_id: "text?", bill_id: "text?", occurrence_id: "text?", paid_by: "text?", shared: "object?" },
    ...{ source: "text", ...STAMPS },
  },
  settlements: {
    ...{ id: "text", date: "day", from: "text?", to: "text?", amount: "decimal", currency: "text" },
    ...{ note: "text?", ...STAMPS },
  },
  documents: {
    ...{ id: "text", name: "text", type: "text", size: "integer", added_by: "text?" },
    ...{ record_id: "text?", record: "text?", occurrence_id: "text?", facts: "object", layout: "object?", ...STAMPS },
  },
  payee_rules: { id: "text", payee: "text", category: "text", category_id: "text", ...STAMPS },
  budgets: {
    ...{ id: "text", category: "text?", category_id: "text?", per: "text", amount: "decimal", currency: "text" },
    ...{ carries_over: "flag", starts_on: "day", opening_amount: "decimal", ...STAMPS },
  },
  accounts: {
    ...{ id: "text", name: "text", kind: "text", currency: "text?", answers: "object", balance: "object?" },
    ...{ created_at: "instant", updated_at: "instant" },
  },
  balances: {
    ...{ id: "text", account_id: "text", account: "text", true_on: "day", amount: "decimal", currency: "text" },
    ...{ source: "text", ...STAMPS },
  },
  incomes: {
    ...{ id: "text", name: "text", sort: "text", received_on: "day?", amount: "decimal", currency: "text" },
    ...{ category: "text?", category_id: "text?", account_id: "text?", line_id: "text?", frequency: "text?" },
    ...{ every: "integer?", anchor_on: "day?", ends_on: "day?", note: "text?", source: "text", ...STAMPS },
  },
  statement_lines: {
    ...{ id: "text", account_id: "text", account: "text", booked_on: "day", text: "text", kind: "text" },
    ...{ amount: "decimal", currency: "text", is_skipped: "flag", payment_ids: "texts", change_id: "text?" },
    created_at: "instant",
  },
  provider_links: {
    ...{ id: "text", bill_id: "text", bill: "text", provider: "text", provider_name: "text?", account: "text" },
    ...{ status: "text", last_success_period: "day?", asked_at: "instant?" },
    ...{ created_at: "instant", updated_at: "instant" },
  },
  provider_statements: {
    ...{ id: "text", link_id: "text", bill_id: "text", period: "day", amount: "decimal", currency: "text" },
    ...{ due_on: "day?", status: "text", reason: "text?", usual_amount: "decimal?", occurrence_id: "text?" },
    fetched_at: "instant",
  },
  exchange_rates: { from_currency: "text", to_currency: "text", rate_on: "day", source: "text", rate: "decimal" },
  changes: {
    ...{ id: "text", at: "instant", by: "text?", client: "text?", tool: "text", facts: "object" },
    ...{ undoes: "text?", undone_by: "text?" },
  },
} as const satisfies Record<string, Columns>;

export type Part = keyof typeof BOOKS;
export const PARTS = Object.keys(BOOKS) as Part[];

/** The bytes of documents, one document per page: `{id, name, content in base64}`. */
export const FILES = "document_files";
