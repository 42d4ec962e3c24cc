/** The books at a glance: empty, full, with hostile names, and after each click. */
import { DOCUMENTS } from "./documents.ts";
import type { Budget, DueBill, ExpenseRow, Glance } from "../../../shared/books/glance.ts";
import {
  DELETING,
  EMAIL,
  HOSTILE,
  LONG,
  ORGANIZATION_STATE,
  RIGHT_TO_LEFT,
  signedIn,
  type State,
  UNBROKEN,
} from "./state.ts";

const ID = "org_home00000000";

/** The view of a person who does not own the organization. */
const OTHERS = { ...ORGANIZATION_STATE, owner: "anna@example.com", is_owner: false };
const PATH = `/books?organization=${ID}`;

const EMPTY: Glance = {
  outcome: "found",
  organizations: [{ id: ID, name: "Home" }],
  organization: { id: ID, name: "Home" },
  base_currency: "EUR",
  country: "DE",
  today: "2026-11-20",
  month: "2026-11-01",
  state: ORGANIZATION_STATE,
  may_write: true,
  may_export: true,
  bills: { data: { bills: [] }, totals_by_currency: null },
  spending: { data: { rows: [], total: { amount: "0.00", currency: "EUR" }, budgets: null, unconverted: null } },
  balances: { data: { user: { email: EMAIL }, balances: [] } },
  documents: { data: { documents: [], count: 0 } },
  expenses: { ok: true, data: { rows: [] }, total_count: 0, totals_by_currency: {}, next_cursor: null },
  paid: null,
};

const bill = (name: string, more: Partial<DueBill> = {}): DueBill => ({
  id: "bill_000000000001",
  name,
  currency: "EUR",
  amount: "900.00",
  amount_mode: "fixed",
  next_due: "2026-11-25",
  autopay: false,
  overdue: [],
  ...more,
});
const row = (name: string, more: Partial<ExpenseRow> = {}): ExpenseRow => ({
  id: "exp_000000000001",
  date: "2026-11-19",
  name,
  category: "Groceries",
  amount: "14.50",
  currency: "EUR",
  kind: "one_off",
  ...more,
});

const budget = (more: Partial<Budget>): Budget => ({
  per: "month",
  amount: "200.00",
  spent: "0.00",
  left: "200.00",
  currency: "EUR",
  ...more,
});

const { amount: _, ...unknown } = bill("Water", { id: "bill_000000000002", amount_mode: "variable" });
const FULL: Glance = {
  ...EMPTY,
  bills: {
    data: {
      bills: [
        bill("Rent", {
          paid_by: EMAIL,
          shared: { how: "shares", between: [{ member: EMAIL, weight: 2 }, { member: "ben@example.com", weight: 1 }] },
          overdue: [{ due_on: "2026-10-25", amount: "900.00" }],
        }),
        bill("Electricity", { id: "bill_000000000003", amount_mode: "estimated", amount: "61.20", is_estimate: true }),
        { ...unknown, usual_amount: "38.00", due_in_window: { count: 2 } },
        { ...unknown, id: "bill_000000000004", name: "Gas", autopay: true, awaiting_amount: ["2026-11-10"] },
        bill("Cloud hosting", {
          id: "bill_000000000005",
          currency: "USD",
          has_document: true,
          amount: "59.34",
          autopay: true,
          next_due: "2026-12-03",
        }),
        bill("Newspaper", {
          id: "bill_000000000006",
          amount: "2.00",
          overdue: [{ due_on: "2026-09-01", amount: "2.00" }],
          overdue_count: 80,
          due_in_window: { count: 84, amount: "168.00" },
        }),
      ],
      totals: { due: { estimated: "137.20" } },
    },
    warnings: [{ code: "amount_missing.of_dates" }],
    totals_by_currency: { EUR: "2029.20", USD: "59.34" },
    next_cursor: "more",
  },
  balances: {
    data: {
      user: { email: EMAIL },
      balances: [
        { from: EMAIL, to: "ben@example.com", amount: "23.40", currency: "EUR" },
        {
          from: `${"very.long.address.".repeat(3)}@${"subdomain.".repeat(12)}example.com`,
          to: EMAIL,
          amount: "1200",
          currency: "JPY",
        },
        { to: "ben@example.com", amount: "0.05", currency: "USD" },
      ],
    },
  },
  spending: {
    data: {
      rows: [
        { group: ["Housing"], amount: "900.00", count: 1 },
        { group: ["Groceries"], amount: "214.50", count: 9 },
        { group: [{ none: "category" }], amount: "31.00", count: 2 },
        { group: ["Travel"], amount: "-80.00", count: 1 },
      ],
      total: { amount: "1065.50", currency: "EUR", change_percent: -8.2 },
      budgets: [
        budget({ amount: "1500.00", spent: "1065.50", left: "434.50", used_percent: 71 }),
        budget({ category: "Groceries", amount: "200.00", spent: "214.50", left: "-14.50", used_percent: 107 }),
        budget({ category: "Housing", amount: "100.00", carried: "-400.00", spent: "900.00", left: "-1200.00" }),
        budget({
          category: "Travel",
          per: "year",
          amount: "2000.00",
          carried: "150.00",
          spent: "-80.00",
          left: "2230.00",
          used_percent: -3,
        }),
      ],
      unconverted: [{ currency: "JPY", amount: "1200", count: 1 }],
    },
  },
  expenses: {
    ok: true,
    data: {
      rows: [
        row("Lunch", {
          payee: "Café Nero",
          has_document: true,
          shared: {
            paid_by: EMAIL,
            shares: [{ member: EMAIL, amount: "4.84" }, { member: "ben@example.com", amount: "4.83" }, {
              amount: "4.83",
            }],
          },
        }),
        row("Shoes", { kind: "refund", amount: "80.00", category: "Travel" }),
        row("Ramen", { currency: "JPY", amount: "1200", category: undefined }),
        row("Electricity", { kind: "bill_payment", is_estimate: true }),
      ],
    },
    total_count: 41,
    totals_by_currency: { EUR: "1200.00", JPY: "1200" },
    next_cursor: "next",
  },
};

const STRANGERS = [LONG, UNBROKEN, HOSTILE, RIGHT_TO_LEFT];
const NAMES: Glance = {
  ...FULL,
  organization: { id: ID, name: RIGHT_TO_LEFT },
  organizations: [{ id: ID, name: RIGHT_TO_LEFT }, { id: "org_other0000000", name: LONG }],
  bills: {
    data: {
      bills: STRANGERS.map((name, place) =>
        bill(name, {
          id: `bill_00000000000${place}`,
          amount: "123456789012.34",
          amount_mode: "estimated",
          due_in_window: { count: 31, amount: "123456789012.34" },
        })
      ),
    },
    totals_by_currency: { EUR: "123456789012.34", IDR: "999999999999.00", USD: "59.34" },
  },
  spending: {
    data: {
      ...FULL.spending!.data,
      rows: STRANGERS.map((name) => ({ group: [name] as [string], amount: "123456789012.34", count: 1 })),
      budgets: STRANGERS.map((category) =>
        budget({ category, per: "year", amount: "123456789012.34", left: "123456789012.34", used_percent: 0 })
      ),
    },
  },
  expenses: {
    ...FULL.expenses,
    data: { rows: STRANGERS.map((name) => row(name, { payee: LONG, category: UNBROKEN, amount: "123456789012.34" })) },
  },
};
const NO_RATE: Glance = {
  ...EMPTY,
  spending: {
    data: { ...EMPTY.spending!.data, unconverted: [{ currency: "JPY", amount: "48000", count: 2 }] },
  },
};
const SEARCH: Glance = { ...FULL, bills: null, spending: null, balances: null };
const PAID = {
  change_id: "chg_000000000001",
  facts: { name: "Rent", due_on: "2026-10-25", amount: "900.00", currency: "EUR", paid_on: "2026-11-20" },
  is_undone: false,
};

const books = (name: string, read_books: Glance, query = ""): State =>
  signedIn(`books-${name}`, PATH + query, { answers: { note_sign_in: { onboarded: true }, read_books } });

export const BOOKS_STATES: readonly State[] = [
  books("empty", EMPTY),
  books("full", FULL),
  books("viewer", { ...FULL, state: { ...OTHERS, writes: false }, may_write: false }),
  books("deleting", { ...FULL, state: DELETING, may_write: false }),
  books("deleting-member", { ...FULL, state: { ...DELETING, owner: OTHERS.owner, is_owner: false }, may_write: false }),
  books("free", { ...FULL, state: { ...ORGANIZATION_STATE, takes_changes: false }, may_write: false }),
  books("free-member", { ...FULL, state: { ...OTHERS, takes_changes: false }, may_write: false }),
  books("member", { ...FULL, may_export: false }),
  books("names", NAMES),
  books("no-rate", NO_RATE),
  books("documents", { ...FULL, documents: { data: { documents: DOCUMENTS, count: 12 } } }),
  books("search", SEARCH, "&q=e"),
  books("search-none", { ...EMPTY, bills: null, spending: null, balances: null }, `&q=${encodeURIComponent(HOSTILE)}`),
  books("earlier", SEARCH, "&cursor=next"),
  books("paid", { ...FULL, paid: PAID }, "&paid=chg_000000000001"),
  books("paid-undone", { ...FULL, paid: { ...PAID, is_undone: true } }, "&paid=chg_000000000001"),
  ...["already", "changed", "refused", "role", "closed", "amount", "failed", "undone", "joined", "not_undone"].map((
    news,
  ) => books(`news-${news}`, FULL, `&news=${news}`)),
  signedIn("books-none", "/books", {
    answers: { note_sign_in: { onboarded: true }, read_books: { outcome: "unknown", organizations: [] } },
  }),
];
