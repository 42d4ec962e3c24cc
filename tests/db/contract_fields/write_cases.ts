/** The fields of the tools that write. */
import type { Ids } from "./books.ts";
import { between, type Case, type Cases } from "./case.ts";
import { PAYMENTS } from "./read_cases.ts";

const item = { name: "Coffee", amount: "2.00" };
const bill = { name: "Internet", amount: "40", first_due: "2026-12-01" };

const CSV = [
  "A,B,C,D,E,F,G,H,I,J,K",
  '03/04/2026,04/05/2026,"-1,000","-2,000",Milk,Bread,EUR,USD,Food,https://a.example,https://b.example',
].join("\n");
const MAPPING = {
  date: "A",
  amount: "C",
  name: "E",
  date_format: "DD/MM/YYYY",
  decimal: ".",
  negative_is_expense: false,
};

const TWO = "Date,Name,Amount\n2026-11-01,Oil,4.00\n2026-11-02,Rice,5.00";

const CONTRACT_FIELDS: Record<string, Case> = {
  "contract.started_on": between("2025-12-10", "2025-12-11"),
  "contract.term_months": between(12, 24),
  "contract.renewal_months": between(0, 12),
  "contract.notice": between("3 months", "3 months to quarter"),
  "contract.form": between("letter", "email"),
  "contract.customer_number": between("1", "2"),
  "contract.address": between("a@example.com", "b@example.com"),
};

/** Bill fields that can be set at creation and later. @param place the position in the contract */
const BILL_FIELDS: Record<string, Case> = {
  name: between("Internet", "Telephone"),
  amount: between("40", "41"),
  currency: between("EUR", "USD", { amount: "40" }),
  amount_mode: between("fixed", "estimated", { amount: "40" }),
  frequency: between("monthly", "yearly"),
  every: between(1, 2),
  first_due: between("2026-12-01", "2026-12-02"),
  month_days: between([1], [15]),
  month_weekdays: between(["2TU"], ["-1FR"]),
  weekend_rule: between("none", "after"),
  ends_on: between("2027-06-30", "2028-06-30"),
  ends_after: between(24, 36),
  payee: between("Telco", undefined),
  category: between("Utilities", "Food"),
  tags: between(["home"], []),
  note: between("fibre", undefined),
  autopay: between(true, false),
  reminder_enabled: between(true, false),
  remind_days_before: between(1, 7),
  remind_again: between([1], [0]),
  assignee: between("me", undefined),
  trial_ends_on: between("2026-12-10", "2026-12-11"),
  renews_on: between("2027-12-10", "2027-12-11"),
  notice_days: between(10, 20),
  ...CONTRACT_FIELDS,
  my_share_percent: between(50, 100),
};

/** @param whole the shared amount */
function sharedBetween(place: string, ids: Ids, whole: string, more: object): Record<string, Case> {
  const shares = place.split(".").reduceRight<object>((inner, name) => ({ [name]: inner }), {});
  const rest = (Number(whole) - 1).toFixed(2);
  return {
    [`${place}.between`]: between([ids.me], [ids.member], more),
    [`${place}.shares`]: between([1, 1], [1, 3], { ...more, ...shares }),
    [`${place}.amounts`]: between(["1.00", rest], [rest, "1.00"], { ...more, ...shares }),
  };
}

const within = (cases: Record<string, Case>, prefix: string, more: object): Record<string, Case> =>
  Object.fromEntries(
    Object.entries(cases).map(([name, { values, with: besides }]) => [`${prefix}${name}`, {
      values,
      with: { ...more, ...(prefix ? { [prefix.slice(0, -1)]: { note: "as it was", ...besides } } : besides) },
    }]),
  );

export const writeCases = (ids: Ids): Cases => ({
  log_expenses: {
    ...Object.fromEntries(
      Object.entries({
        name: ["Coffee", "Cocoa"],
        amount: ["2.00", "3.00"],
        currency: ["EUR", "USD"],
        date: ["today", "yesterday"],
        payee: ["Kiosk", undefined],
        category: ["Food", "Transport"],
        tags: [["a"], ["b"]],
        note: ["hot", undefined],
        url: ["https://a.example", "https://b.example"],
        is_refund: [true, false],
        kind: ["balance", undefined],
        external_id: ["receipt-0001", "receipt-0002"],
        tax: ["0.20", "0.30"],
        tax_percent: [19, 7],
        reimbursement: ["open", "done"],
        reimbursed_by: ["Client", "Employer"],
      }).map(([name, [a, b]]) => [`items[].${name}`, between(a, b, { items: [item] })]),
    ),
    "items[].repeats": between("monthly", "yearly", { items: [{ ...item, kind: "income" }] }),
    "items[].charged.amount": between("1.50", "1.60", { items: [{ ...item, currency: "USD" }] }),
    "items[].charged.currency": between("EUR", "GBP", {
      items: [{ ...item, currency: "USD", charged: { amount: "1.50" } }],
    }),
    "items[].paid_by": between(ids.member, undefined, { items: [{ ...item, shared: {} }] }),
    "items[].shared.between": between([ids.me], [ids.member], { items: [item] }),
    "items[].shared.shares": between([1, 1], [1, 3], { items: [{ ...item, shared: {} }] }),
    "items[].shared.amounts": between(["1.00", "1.00"], ["1.50", "0.50"], { items: [{ ...item, shared: {} }] }),
    "items[].split[].amount": between("1.50", "0.50", { items: [{ ...item, split: [{}, { category: "Food" }] }] }),
    "items[].split[].category": between("Food", "Transport", { items: [{ ...item, split: [{}] }] }),
    on_duplicate: between("skip", "allow", { items: [{ ...item, name: "Pen", amount: "1.00" }] }),
    create_missing_categories: between(true, false, { items: [{ ...item, category: "Hobby" }] }),
    dry_run: between(true, false, { items: [item] }),
    idempotency_key: {
      ...between("key-00000001", "key-00000002", { items: [item], on_duplicate: "allow" }),
      before: [["log_expenses", { items: [item], on_duplicate: "allow", idempotency_key: "key-00000001" }]],
    },
  },
  import_expenses: {
    csv: between("Date,Name,Amount\n2026-11-01,Milk,1.00", "Date,Name,Amount\n2026-11-01,Milk,2.00"),
    ...Object.fromEntries(
      Object.entries({
        date: ["A", "B"],
        amount: ["C", "D"],
        name: ["E", "F"],
        payee: ["E", "F"],
        currency: ["G", "H"],
        category: ["I", "E"],
        note: ["E", "F"],
        url: ["J", "K"],
        date_format: ["DD/MM/YYYY", "MM/DD/YYYY"],
        decimal: [".", ","],
        negative_is_expense: [true, false],
      }).map(([name, [a, b]]) => [`mapping.${name}`, between(a, b, { csv: CSV, mapping: MAPPING })]),
    ),
    default_currency: between("EUR", "USD", { csv: CSV, mapping: MAPPING }),
    account: between("Card", "Bank", { csv: TWO }),
    answers: between({ negative_is_expense: true }, { negative_is_expense: false }, {
      csv: `${TWO}\n2026-11-03,Tea,-1`,
    }),
    skip_lines: between([2], [3], { csv: TWO }),
    after_line: between(2, 3, { csv: TWO }),
    "corrections[].line": between(2, 3, { csv: TWO, corrections: [{ amount: "7" }] }),
    ...Object.fromEntries(
      Object.entries({
        name: ["Olives", "Beans"],
        amount: ["6", "7"],
        date: ["2026-11-03", "2026-11-04"],
        category: ["Food", "Transport"],
        currency: ["USD", "GBP"],
      }).map(([name, [a, b]]) => [`corrections[].${name}`, between(a, b, { csv: TWO, corrections: [{ line: 2 }] })]),
    ),
    "rules[].payee": between("Oil", "Rice", { csv: TWO, rules: [{ category: "Food" }] }),
    "rules[].category": between("Food", "Transport", { csv: TWO, rules: [{ payee: "Oil" }] }),
    import_id: between(ids.import, ids.other_import, { expected_count: 1, expected_totals: { EUR: "1.00" } }),
    expected_count: between(1, 2, { import_id: ids.import, expected_totals: { EUR: "1.00" } }),
    expected_totals: between({ EUR: "1.00" }, { EUR: "2.00" }, { import_id: ids.import, expected_count: 1 }),
    on_duplicate: between("skip", "allow", { csv: "Date,Name,Amount\n2026-11-20,Pen,1.00\n2026-11-20,Ink,1.00" }),
    create_missing_categories: between(true, false, {
      import_id: ids.hobby_import,
      expected_count: 1,
      expected_totals: { EUR: "1.00" },
    }),
  },
  update_expenses: {
    ids: between([ids.Lunch], [ids.Taxi], { set: { note: "seen" } }),
    ...Object.fromEntries(
      Object.entries({
        name: ["Dinner", undefined],
        amount: ["15.00", undefined],
        currency: ["USD", undefined],
        date: ["2026-11-18", undefined],
        payee: ["Bistro", undefined],
        category: ["Transport", undefined],
        tags: [["b"], undefined],
        note: ["stew", undefined],
        url: ["https://a.example", undefined],
        is_refund: [true, false],
        tax: ["2.00", undefined],
        tax_percent: [19, undefined],
        reimbursement: ["open", undefined],
        reimbursed_by: ["Client", undefined],
        reimbursed_on: ["2026-11-18", undefined],
      }).map(([name, [a, b]]) => [
        `set.${name}`,
        between(a, b, { ids: [ids.Lunch], set: name === "note" ? { url: "https://b.example" } : { note: "seen" } }),
      ]),
    ),
    "set.charged.amount": between("18.30", "18.40", { ids: [ids.Book] }),
    "set.charged.currency": between("EUR", "GBP", { ids: [ids.Book], set: { charged: { amount: "18.30" } } }),
    merge_into: between(ids.Taxi, ids.Car, { ids: [ids.Lunch] }),
    "set.paid_by": between(ids.member, undefined, { ids: [ids.Lunch], set: { note: "seen" } }),
    ...sharedBetween("set.shared", ids, "14.50", { ids: [ids.Lunch] }),
    "set.split[].amount": between("4.00", "5.00", {
      ids: [ids.Lunch],
      set: { split: [{}, { category: "Transport" }] },
    }),
    "set.split[].category": between("Food", "Transport", { ids: [ids.Lunch], set: { split: [{}] } }),
    add_tags: between(["b"], ["c"], { ids: [ids.Lunch] }),
    remove_tags: between(["team"], ["c"], { ids: [ids.Lunch], set: { note: "seen" } }),
    ...Object.fromEntries(
      Object.entries(PAYMENTS).map(([name, { values: [a, b] }]) => [
        `filter.${name}`,
        between(a, b, { set: { note: "seen" }, dry_run: true, filter: { query: name === "query" ? undefined : "u" } }),
      ]),
    ),
    "confirm.count": between(1, 2, { filter: { query: "soup" }, set: { note: "seen" }, confirm: { total: "14.50" } }),
    "confirm.total": between("14.50", "2", { filter: { query: "soup" }, set: { note: "seen" }, confirm: { count: 1 } }),
    expected_version: between(1, 9, { ids: [ids.Lunch], set: { note: "seen" } }),
    dry_run: between(true, false, { ids: [ids.Lunch], set: { note: "seen" } }),
  },
  add_bill: {
    ...within(BILL_FIELDS, "", bill),
    paid_by: between(ids.member, undefined, bill),
    ...sharedBetween("shared", ids, "40.00", bill),
    notice_days: between(10, 20, { ...bill, renews_on: "2027-12-10" }),
    on_duplicate: between("skip", "allow", { ...bill, name: "Water", amount: "30", first_due: "2026-12-05" }),
    dry_run: between(true, false, bill),
    idempotency_key: {
      ...between("key-00000001", "key-00000002", { ...bill, on_duplicate: "allow" }),
      before: [["add_bill", { ...bill, on_duplicate: "allow", idempotency_key: "key-00000001" }]],
    },
  },
  draft_cancellation: {
    bill_id: between(ids.Rent, ids.Water),
    bill_name: between("Rent", "Water"),
    language: between("de", "en", { bill_id: ids.Gym }),
    leave_on: between("2027-01-31", "2027-02-28", { bill_id: ids.Gym }),
    words: between("We move.", "Thank you.", { bill_id: ids.Gym }),
    sender: between("A", "B", { bill_id: ids.Gym }),
    ...within(CONTRACT_FIELDS, "", { bill_id: ids.Gym }),
  },
  update_bill: {
    bill_id: between(ids.Rent, ids.Water, { set: { note: "seen" } }),
    bill_name: between("Rent", "Water", { set: { note: "seen" } }),
    ...within(BILL_FIELDS, "set.", { bill_id: ids.Water }),
    "set.paid_by": between(ids.member, ids.me, { bill_id: ids.Water, set: {} }),
    ...sharedBetween("set.shared", ids, "30.00", { bill_id: ids.Water }),
    "set.notice_days": between(10, 20, { bill_id: ids.Gym, set: {} }),
    "set.contract.confirmed_on": between("today", "yesterday", { bill_id: ids.Gym, set: {} }),
    "set.note": between("fibre", "copper", { bill_id: ids.Water, set: {} }),
    "set.status": between("paused", "cancelled", { bill_id: ids.Water, set: {} }),
    apply_from: between("2026-12-05", "2027-01-05", { bill_id: ids.Water, set: { amount: "31" } }),
    pause_until: between("2026-12-05", "2027-01-05", { bill_id: ids.Water }),
    "occurrence.due_on": between("2026-10-05", "2026-11-05", { bill_id: ids.Water, occurrence: { action: "skip" } }),
    "occurrence.action": between("skip", "reopen", { bill_id: ids.Water, occurrence: { due_on: "2026-11-05" } }),
    "occurrence.amount": between("31", "32", {
      bill_id: ids.Water,
      occurrence: { action: "set_amount", due_on: "2026-11-05" },
    }),
    "occurrence.snooze_until": between("2026-11-25", "2026-11-26", {
      bill_id: ids.Water,
      occurrence: { action: "snooze", due_on: "2026-11-05" },
    }),
    "provider.action": between("connect", "disconnect", { bill_id: ids.Power, provider: { provider: "github" } }),
    "provider.provider": between("github", "openai", { bill_id: ids.Power, provider: { action: "connect" } }),
    expected_version: between(1, 9, { bill_id: ids.Water, set: { note: "seen" } }),
    dry_run: between(true, false, { bill_id: ids.Water, set: { note: "seen" } }),
  },
  mark_bill_paid: {
    bill_id: between(ids.Rent, ids.Water),
    bill_name: between("Rent", "Water"),
    due_on: between("2026-10-05", "2026-11-05", { bill_id: ids.Water }),
    amount: between("31", "32", { bill_id: ids.Water }),
    currency: between("EUR", "USD", { bill_id: ids.Water, amount: "30" }),
    "charged.amount": between("8.10", "8.20", { bill_id: ids.Domain }),
    "charged.currency": between("EUR", "GBP", { bill_id: ids.Domain, charged: { amount: "8.10" } }),
    paid_on: between("today", "yesterday", { bill_id: ids.Water }),
    paid_by: between(ids.member, undefined, { bill_id: ids.Water }),
    note: between("cash", undefined, { bill_id: ids.Water }),
    advance: between(true, false, { bill_id: ids.Trial }),
    on_duplicate: {
      ...between("skip", "allow", { bill_name: "Gas" }),
      before: [
        ["log_expenses", { items: [{ name: "Gas", amount: "30" }] }],
        ["add_bill", { name: "Gas", amount: "30", frequency: "once", first_due: "tomorrow" }],
      ],
    },
    confirm_days: between(2469, 2470, { bill_id: ids.Water, paid_on: "2020-01-01" }),
    idempotency_key: {
      ...between("key-00000001", "key-00000002", { bill_id: ids.Water }),
      before: [["mark_bill_paid", { bill_id: ids.Water, idempotency_key: "key-00000001" }]],
    },
  },
  attach_document: {
    document_id: between(ids.invoice, ids.receipt, { to: ids.Lunch }),
    to: between(ids.Lunch, ids.Taxi, { document_id: ids.invoice }),
    due_on: between("2026-10-01", "2026-11-01", { document_id: ids.invoice, to: ids.Rent }),
  },
  settle_up: {
    from: between(ids.member, "me", { amount: "2.00" }),
    to: between(ids.member, "me", { amount: "2.00" }),
    amount: between("2.00", "3.00", { to: ids.member }),
    currency: between("EUR", "USD", { to: ids.member, amount: "2.00" }),
    date: between("2026-11-20", "2026-11-19", { to: ids.member, amount: "2.00" }),
    note: between("cash", undefined, { to: ids.member, amount: "2.00" }),
    on_duplicate: {
      ...between("skip", "allow", { to: ids.member, amount: "2.00" }),
      before: [["settle_up", { to: ids.member, amount: "2.00" }]],
    },
    dry_run: between(true, false, { to: ids.member, amount: "2.00" }),
    idempotency_key: {
      ...between("key-00000001", "key-00000002", { to: ids.member, amount: "2.00", on_duplicate: "allow" }),
      before: [["settle_up", {
        to: ids.member,
        amount: "2.00",
        on_duplicate: "allow",
        idempotency_key: "key-00000001",
      }]],
    },
  },
  sync_bill_amounts: {
    bill_ids: between([ids.Power], [ids.Water]),
    period: between("2026-10", "2026-11"),
  },
  delete_records: {
    ids: between([ids.Lunch], [ids.Taxi]),
    "expected[].id": between(ids.Lunch, ids.Taxi, { ids: [ids.Lunch, ids.Taxi], expected: [{ amount: "14.50" }] }),
    "expected[].amount": between("14.50", "15.00", { ids: [ids.Lunch], expected: [{ id: ids.Lunch }] }),
    "expected[].date": between("2026-11-19", "2026-11-18", { ids: [ids.Lunch], expected: [{ id: ids.Lunch }] }),
    reason: between("twice", undefined, { ids: [ids.Lunch] }),
    dry_run: between(true, false, { ids: [ids.Lunch] }),
    ...Object.fromEntries(
      Object.entries(PAYMENTS).map(([name, { values: [a, b] }]) => [
        `filter.${name}`,
        between(a, b, { dry_run: true, filter: { query: name === "query" ? undefined : "u" } }),
      ]),
    ),
    "confirm.count": between(1, 2, { ids: [ids.Car], confirm: { total: "5000.00" } }),
    "confirm.total": between("5000.00", "4000.00", { ids: [ids.Car], confirm: { count: 1 } }),
  },
  undo_change: {
    change_id: between(ids.change, undefined),
    dry_run: between(true, false),
    idempotency_key: {
      ...between("key-00000001", "key-00000002"),
      before: [["undo_change", { idempotency_key: "key-00000001" }]],
    },
  },
  decide_proposal: {
    proposal_id: between(ids.proposal, ids.other_proposal, { hash: "a", decision: "refuse" }),
    hash: between("a", "b", { proposal_id: ids.proposal, decision: "refuse" }),
    decision: between("approve", "refuse", { proposal_id: ids.proposal, hash: "a" }),
  },
  update_settings: {
    timezone: between("Asia/Kolkata", "Europe/Berlin"),
    base_currency: between("USD", "GBP"),
    closed_through: between("2025-01", "2025-02"),
    low_balance_limit: between("500", "600"),
    own_only: between(true, false),
    relabel_closed: between(true, false),
    "reminders.email_enabled": between(true, false),
    "reminders.default_days_before": between(5, 6),
    "reminders.hide_amounts_in_email": between(true, false),
    "reminders.my_mails": between("all", "none"),
    "category.action": between("create", "archive", { category: { name: "Food" } }),
    "category.name": between("Food", "Transport", { category: { action: "archive" } }),
    "category.new_name": between("Meals", "Dishes", { category: { action: "rename", name: "Food" } }),
    "category.into": between("Transport", "Housing", { category: { action: "merge", name: "Food" } }),
    "payee_rules[].payee": between("Kiosk", "Café", { payee_rules: [{ category: "Food" }] }),
    "payee_rules[].no_bill": between(true, false, { payee_rules: [{ payee: "Kiosk", category: "Food" }] }),
    "payee_rules[].category": between("Food", "Transport", { payee_rules: [{ payee: "Kiosk" }] }),
    forget_layouts: between([], ["acc_00000000.0"]),
    "budget.action": between("set", "remove", { budget: { amount: "100" } }),
    "budget.category": between("Food", "Transport", { budget: { action: "set", amount: "100" } }),
    "budget.amount": between("100", "200", { budget: { action: "set" } }),
    "budget.per": between("month", "year", { budget: { action: "set", amount: "100" } }),
    "budget.carry_over": between(true, false, { budget: { action: "set", amount: "100" } }),
  },
});
