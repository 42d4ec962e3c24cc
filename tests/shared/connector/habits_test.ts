/**
 * Arguments as small models send them. The tool understands each in its only meaning, and the answer reports the
 * reinterpretation.
 */
import { assertEquals, assertObjectMatch } from "@std/assert";
import { TOOLS } from "../../../functions/mcp/tools/mod.ts";

type Fields = Record<string, unknown>;

const BY_NAME = new Map<string, (typeof TOOLS)[number]>(TOOLS.map((tool) => [tool.listed.name, tool]));
const parse = (tool: string, sent: Fields) => BY_NAME.get(tool)!.parse(sent);

/** One expense, changed by the habit. */
const lunch = (more: Fields): Fields => ({ items: [{ name: "Lunch", amount: "1", ...more }] });
const BILL = "bill_0123456789ab";
const EXPENSE = "exp_0123456789ab";
const CHANGE = "chg_0123456789ab";

const READ: [tool: string, sent: Fields, meant: Fields][] = [
  // Amounts, currencies, days
  ["log_expenses", lunch({ amount: "12k" }), lunch({ amount: "12000" })],
  ["log_expenses", lunch({ amount: "1.5k" }), lunch({ amount: "1500" })],
  ["log_expenses", { items: [{ name: "Lunch", price: 3 }] }, lunch({ amount: "3" })],
  ["log_expenses", lunch({ currency: "Euro" }), lunch({ currency: "EUR" })],
  ["log_expenses", lunch({ currency: "euros" }), lunch({ currency: "EUR" })],
  ["log_expenses", lunch({ currency: "Swiss franc" }), lunch({ currency: "CHF" })],
  ["log_expenses", lunch({ currency: "Schweizer Franken" }), lunch({ currency: "CHF" })],
  ["log_expenses", lunch({ currency: "yen" }), lunch({ currency: "JPY" })],
  ["log_expenses", lunch({ currency: "złoty" }), lunch({ currency: "PLN" })],
  ["log_expenses", lunch({ date: "2026-11-26T10:15:00Z" }), lunch({ date: "2026-11-26" })],
  ["log_expenses", lunch({ currency: "yen" }), lunch({ currency: "JPY" })],
  ["log_expenses", lunch({ currency: "złoty" }), lunch({ currency: "PLN" })],
  ["log_expenses", lunch({ date: "2026-11-26T10:15:00+01:00" }), lunch({ date: "2026-11-26" })],
  ["log_expenses", lunch({ date: "gestern" }), lunch({ date: "yesterday" })],
  ["log_expenses", lunch({ date: "Ayer" }), lunch({ date: "yesterday" })],
  // Shapes
  ["log_expenses", { name: "Lunch", amount: 1, dry_run: true }, { ...lunch({}), dry_run: true }],
  ["log_expenses", { items: JSON.stringify([{ name: "Lunch", amount: 1 }]) }, lunch({})],
  ["log_expenses", { expenses: [{ name: "Lunch", amount: "1" }] }, lunch({})],
  ["log_expenses", lunch({ shared: true }), lunch({ shared: {} })],
  ["log_expenses", lunch({ shared: ["me", "Ben"] }), lunch({ shared: { between: ["me", "Ben"] } })],
  ["log_expenses", lunch({ shared: { with: ["Ben"] } }), lunch({ shared: { between: ["me", "Ben"] } })],
  ["log_expenses", lunch({ shared: { with: "Ben" } }), lunch({ shared: { between: ["me", "Ben"] } })],
  ["log_expenses", lunch({ tags: "a, b" }), lunch({ tags: ["a", "b"] })],
  ["log_expenses", lunch({ is_refund: "yes" }), lunch({ is_refund: true })],
  // Names of fields
  ["log_expenses", lunch({ merchant: "Rewe" }), lunch({ payee: "Rewe" })],
  ["log_expenses", lunch({ vendor: "Rewe" }), lunch({ payee: "Rewe" })],
  ["log_expenses", lunch({ description: "With Ben" }), lunch({ note: "With Ben" })],
  ["log_expenses", { items: [{ title: "Lunch", amount: "1" }] }, lunch({})],
  ["log_expenses", { items: [{ description: "Lunch", amount: "1" }] }, lunch({})],
  ["log_expenses", lunch({ category_name: "Food" }), lunch({ category: "Food" })],
  ["log_expenses", lunch({ category_id: "Food" }), lunch({ category: "Food" })],
  ["log_expenses", lunch({ paid_by: "I" }), lunch({ paid_by: "me" })],
  [
    "log_expenses",
    { items: [{ name: "Milk", amount: 2 }, { name: "Deposit", amount: -0.25 }] },
    { items: [{ name: "Milk", amount: "2" }, { name: "Deposit", amount: "0.25", is_refund: true }] },
  ],
  ["log_expenses", lunch({ location: "Berlin" }), lunch({ note: "Berlin" })],
  ["log_expenses", lunch({ type: "expense" }), lunch({})],
  ["log_expenses", lunch({ type: "refund" }), lunch({ is_refund: true })],
  ["log_expenses", lunch({ type: "income" }), lunch({ kind: "income" })],
  ["log_expenses", lunch({ amount: "8 euro" }), lunch({ amount: "8", currency: "EUR" })],
  ["log_expenses", lunch({ shared: "Ben" }), lunch({ shared: { between: ["me", "Ben"] } })],
  // Queries
  ["list_expenses", { from: "2026-11", to: "2026-11" }, { from: "2026-11-01", to: "2026-11-30" }],
  ["list_expenses", { period: "2026-02" }, { from: "2026-02-01", to: "2026-02-28" }],
  ["list_expenses", { start_date: "2026-11-01", end_date: "2026-11-05" }, { from: "2026-11-01", to: "2026-11-05" }],
  ["list_expenses", { sort: "created_at" }, { sort: "recorded" }],
  ["list_expenses", { from: "2026-11-30", to: "2026-11-01" }, { from: "2026-11-01", to: "2026-11-30" }],
  ["list_expenses", { search: "rewe" }, { query: "rewe" }],
  ["list_expenses", { merchant: "Rewe" }, { payee: "Rewe" }],
  ["list_expenses", { limit: 500 }, { limit: 100 }],
  ["list_expenses", { date: "2026-11-05" }, { from: "2026-11-05", to: "2026-11-05" }],
  ["summarize_spending", { period: "2026-10" }, { from: "2026-10-01", to: "2026-10-31" }],
  ["summarize_spending", { period: "last_3_months" }, { period: "last_3_months" }],
  ["summarize_spending", { period: "Last 90 days" }, { period: "last_90_days" }],
  ["summarize_spending", { period: "past 2 years" }, { period: "last_2_years" }],
  ["summarize_spending", { period: "Next month" }, { period: "next_month" }],
  ["summarize_spending", { period: "hoy" }, { from: "today", to: "today" }],
  ["list_expenses", { period: "yesterday" }, { from: "yesterday", to: "yesterday" }],
  ["show_spending_chart", { period: "last_quarter" }, { period: "last_quarter" }],
  ["show_spending_chart", { period: "previous year" }, { period: "last_year" }],
  ["list_expenses", { from: "last month" }, { from: "last_month" }],
  ["list_expenses", { period: "last_3_months" }, { from: "last_3_months", to: "last_3_months" }],
  ["log_expenses", lunch({ date: "last Friday" }), lunch({ date: "last_friday" })],
  ["log_expenses", lunch({ date: "Monday" }), lunch({ date: "monday" })],
  ["log_expenses", lunch({ date: "Montag" }), lunch({ date: "monday" })],
  ["log_expenses", lunch({ date: "lundi" }), lunch({ date: "monday" })],
  ["log_expenses", lunch({ date: "viernes" }), lunch({ date: "friday" })],
  ["add_bill", { name: "Cleaning", first_due: "next Monday" }, { first_due: "next_monday" }],
  ["get_context", { from: "last week" }, { changes: { from: "last_week" } }],
  ["get_context", { changes: { since: "monday" } }, { changes: { from: "monday" } }],
  ["summarize_spending", { group_by: "categories" }, { group_by: ["category"] }],
  ["summarize_spending", { group_by: "merchant" }, { group_by: ["payee"] }],
  ["summarize_spending", { compare: true }, { compare: "previous_period" }],
  ["summarize_spending", { compare: "last_year" }, { compare: "same_period_last_year" }],
  ["show_spending_chart", { chart: "category" }, { chart: "by_category" }],
  ["get_context", { include: "all" }, { include: ["categories", "payees", "settings"] }],
  // Bills
  ["list_bills", { bill_id: "Netflix" }, { query: "Netflix" }],
  ["list_bills", { bill_name: "Netflix" }, { query: "Netflix" }],
  ["list_bills", { name: "Netflix" }, { query: "Netflix" }],
  ["update_bill", { bill_id: "Netflix", set: { status: "paused" } }, { bill_name: "Netflix" }],
  ["update_bill", { name: "Netflix", set: { status: "paused" } }, { bill_name: "Netflix" }],
  ["update_bill", { bill_id: BILL, amount: 12 }, { bill_id: BILL, set: { amount: "12" } }],
  ["update_bill", { bill_id: BILL, status: "canceled" }, { set: { status: "cancelled" } }],
  ["update_bill", { bill_id: BILL, set: { status: "canceled" } }, { set: { status: "cancelled" } }],
  [
    "update_bill",
    { bill_id: BILL, set: { amount: "12" }, effective_from: "2026-12-01" },
    { apply_from: "2026-12-01" },
  ],
  [
    "update_bill",
    { bill_id: BILL, set: { amount: "12", apply_from: "2026-12-01" } },
    { set: { amount: "12" }, apply_from: "2026-12-01" },
  ],
  ["update_bill", { bill_id: BILL, set: { amount: "12" }, apply_from: "2027-03" }, { apply_from: "2027-03-01" }],
  ["update_bill", { bill_id: BILL, action: "skip", due_on: "2026-12-01" }, {
    occurrence: { action: "skip", due_on: "2026-12-01" },
  }],
  ["add_bill", { name: "Insurance", frequency: "quarterly" }, { frequency: "monthly", every: 3 }],
  ["add_bill", { name: "Insurance", frequency: "annual" }, { frequency: "yearly" }],
  ["add_bill", { name: "Cleaning", frequency: "biweekly" }, { frequency: "weekly", every: 2 }],
  ["add_bill", { name: "Rent", due_date: "2026-12-01" }, { first_due: "2026-12-01" }],
  ["add_bill", { name: "Rent", start_date: "2026-12-01" }, { first_due: "2026-12-01" }],
  ["add_bill", { name: "Rent", day_of_month: 5 }, { month_days: [5] }],
  ["add_bill", { name: "Rent", month_weekdays: "last Friday" }, { month_weekdays: ["-1FR"] }],
  ["add_bill", { name: "Rent", month_weekdays: ["2nd Tuesday"] }, { month_weekdays: ["2TU"] }],
  ["update_bill", { bill_id: BILL, set: { status: "paused" }, resume_on: "2027-03" }, { pause_until: "2027-03-01" }],
  ["update_expenses", { items: [{ id: EXPENSE, note: "x" }] }, { ids: [EXPENSE], set: { note: "x" } }],
  ["update_settings", { closed_through: "October" }, { closed_through: "--10" }],
  ["update_settings", { category: "Car" }, { category: { action: "create", name: "Car" } }],
  ["show_spending_chart", { type: "pie" }, { chart: "by_category" }],
  ["get_context", { include: "proposals" }, {}],
  ["add_bill", { name: "Rent", autopay: "yes" }, { autopay: true }],
  ["mark_bill_paid", { name: "Plumber" }, { bill_name: "Plumber" }],
  ["mark_bill_paid", { bill: "Plumber" }, { bill_name: "Plumber" }],
  ["mark_bill_paid", { bill_id: "Plumber" }, { bill_name: "Plumber" }],
  ["mark_bill_paid", { bill_name: "Plumber", date: "2026-11-20" }, { paid_on: "2026-11-20" }],
  ["mark_bill_paid", { bill_name: "Plumber", due_on: "2026-10" }, { due_on: "2026-10" }],
  ["mark_bill_paid", { bill_name: "Plumber", due_on: "October" }, { due_on: "--10" }],
  ["mark_bill_paid", { bill_name: "Plumber", due_on: "Oktober 2026" }, { due_on: "2026-10" }],
  ["mark_bill_paid", { bill_name: "Plumber", due_on: "this month" }, { due_on: "this_month" }],
  ["mark_bill_paid", { bill_name: "Plumber", due_on: "martes" }, { due_on: "tuesday" }],
  // Changes
  ["update_expenses", { ids: [EXPENSE], note: "x" }, { set: { note: "x" } }],
  ["update_expenses", { ids: [EXPENSE], changes: { note: "x" } }, { set: { note: "x" } }],
  ["update_expenses", { ids: [EXPENSE], set: '{"note":"x"}' }, { set: { note: "x" } }],
  ["delete_records", { payee: "Rewe" }, { filter: { payee: "Rewe" } }],
  ["delete_records", { filter: { merchant: "Rewe" } }, { filter: { payee: "Rewe" } }],
  ["delete_records", { filter: { date: "2026-11-05" } }, { filter: { from: "2026-11-05", to: "2026-11-05" } }],
  ["undo_change", { change_id: "last" }, { dry_run: false }],
  ["undo_change", { id: CHANGE }, { change_id: CHANGE }],
  ["update_settings", { budget: { category: "Food", amount: 400 } }, { budget: { action: "set", amount: "400" } }],
  ["update_settings", { budget: { action: "set", amount: "400", period: "yearly" } }, { budget: { per: "year" } }],
  ["update_settings", { currency: "CHF" }, { base_currency: "CHF" }],
  ["update_settings", { closed_through: "2026-10-31" }, { closed_through: "2026-10" }],
  ["update_settings", { timezone: "Berlin" }, { timezone: "Europe/Berlin" }],
  ["update_settings", { timezone: "CET" }, { timezone: "Europe/Brussels" }],
  ["update_settings", { timezone: "New York" }, { timezone: "America/New_York" }],
  ["update_settings", { category: { action: "rename", name: "A", to: "B" } }, { category: { new_name: "B" } }],
  ["update_settings", { category: { action: "merge", name: "A", to: "B" } }, { category: { into: "B" } }],
];

for (const [tool, sent, meant] of READ) {
  Deno.test(`${tool} reads ${JSON.stringify(sent)}`, () => {
    const parsed = parse(tool, sent);
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
    assertObjectMatch(parsed.value, JSON.parse(JSON.stringify(meant)));
  });
}

/** Two meanings, or a meaning that no bookkeeper would guess. */
const REFUSED: [tool: string, sent: Fields][] = [
  ["log_expenses", lunch({ amount: "-14.50" })],
  ["log_expenses", { items: [{ name: "Salary", amount: -2000 }, { name: "Bonus", amount: -100 }] }],
  ["log_expenses", lunch({ currency: "dollars" })],
  ["log_expenses", lunch({ constructor: "x" })],
  ["log_expenses", lunch({ date: "03/04/2026" })],
  ["add_bill", { name: "Rent", frequency: "bimonthly" }],
  ["update_expenses", { items: [{ id: EXPENSE, note: "x" }, { id: EXPENSE, note: "y" }] }],
  ["list_expenses", { page: 2 }],
  ["update_expenses", { payee: "Rewe", set: { category: "Food" }, filter: { query: "x" } }],
  ["update_settings", { closed_through: "2026-10-15" }],
  ["undo_change", { change_id: "lastly" }],
  ["summarize_spending", { period: "last_0_days" }],
  ["summarize_spending", { period: "last_999_months" }],
  ["log_expenses", lunch({ date: "last_fryday" })],
];

for (const [tool, sent] of REFUSED) {
  Deno.test(`${tool} refuses ${JSON.stringify(sent)}`, () => assertEquals(parse(tool, sent).ok, false));
}

Deno.test("parse() reports reinterpreted values, but not other spellings of the same value", () => {
  const understoodIn = (tool: string, sent: Fields) => {
    const parsed = parse(tool, sent);
    return parsed.ok ? parsed.understood : parsed.error;
  };
  assertEquals(understoodIn("log_expenses", lunch({ merchant: "Rewe", amount: "12k" })), [
    "12k → 12000",
    "merchant → payee",
  ]);
  assertEquals(understoodIn("log_expenses", lunch({ amount: "14,50", currency: "eur", tags: "x" })), undefined);
  assertEquals(understoodIn("log_expenses", lunch({ date: "last Friday" })), undefined);
  assertEquals(understoodIn("add_bill", { name: "x", frequency: "quarterly" }), [
    'frequency "quarterly" → {"frequency":"monthly","every":3}',
  ]);
});
