/** The fields of the tools that write. */
import type { Ids } from "./books.ts";
import { between, type Case, type Cases } from "./case.ts";

const item = { name: "Coffee", amount: "2.00" };
const bill = { name: "Internet", amount: "40", first_due: "2026-12-01" };

const CSV = [
  "A,B,C,D,E,F,G,H,I,J,K",
  '03/04/2026,04/05/2026,"1,000","2,000",Milk,Bread,EUR,USD,Food,https://a.example,https://b.example',
].join("\n");
const MAPPING = {
  date: "A",
  amount: "C",
  name: "E",
  date_format: "DD/MM/YYYY",
  decimal: ".",
  negative_is_expense: false,
};

/** Bill fields that can be set on adding and later; @param place where the contract has them. */
const BILL_FIELDS: Record<string, Case> = {
  name: between("Internet", "Telephone"),
  amount: between("40", "41"),
  currency: between("EUR", "USD", { amount: "40" }),
  amount_mode: between("fixed", "estimated", { amount: "40" }),
  frequency: between("monthly", "yearly"),
  every: between(1, 2),
  first_due: between("2026-12-01", "2026-12-02"),
  month_days: between([1], [15]),
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
  trial_ends_on: between("2026-12-10", "2026-12-11"),
  renews_on: between("2027-12-10", "2027-12-11"),
  notice_days: between(10, 20),
  my_share_percent: between(50, 100),
};

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
        external_id: ["receipt-0001", "receipt-0002"],
      }).map(([name, [a, b]]) => [`items[].${name}`, between(a, b, { items: [item] })]),
    ),
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
      }).map(([name, [a, b]]) => [
        `set.${name}`,
        between(a, b, { ids: [ids.Lunch], set: name === "note" ? { url: "https://b.example" } : { note: "seen" } }),
      ]),
    ),
    add_tags: between(["b"], ["c"], { ids: [ids.Lunch] }),
    expected_version: between(1, 9, { ids: [ids.Lunch], set: { note: "seen" } }),
    dry_run: between(true, false, { ids: [ids.Lunch], set: { note: "seen" } }),
  },
  add_bill: {
    ...within(BILL_FIELDS, "", bill),
    notice_days: between(10, 20, { ...bill, renews_on: "2027-12-10" }),
    on_duplicate: between("skip", "allow", { ...bill, name: "Water", amount: "30", first_due: "2026-12-05" }),
    dry_run: between(true, false, bill),
    idempotency_key: {
      ...between("key-00000001", "key-00000002", { ...bill, on_duplicate: "allow" }),
      before: [["add_bill", { ...bill, on_duplicate: "allow", idempotency_key: "key-00000001" }]],
    },
  },
  update_bill: {
    bill_id: between(ids.Rent, ids.Water, { set: { note: "seen" } }),
    ...within(BILL_FIELDS, "set.", { bill_id: ids.Water }),
    "set.notice_days": between(10, 20, { bill_id: ids.Gym, set: {} }),
    "set.note": between("fibre", "copper", { bill_id: ids.Water, set: {} }),
    "set.status": between("paused", "cancelled", { bill_id: ids.Water, set: {} }),
    apply_from: between("2026-12-05", "2027-01-05", { bill_id: ids.Water, set: { amount: "31" } }),
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
    paid_on: between("today", "yesterday", { bill_id: ids.Water }),
    note: between("cash", undefined, { bill_id: ids.Water }),
    idempotency_key: {
      ...between("key-00000001", "key-00000002", { bill_id: ids.Water }),
      before: [["mark_bill_paid", { bill_id: ids.Water, idempotency_key: "key-00000001" }]],
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
  },
  undo_change: {
    change_id: between(ids.change, undefined),
    dry_run: between(true, false),
  },
  update_settings: {
    timezone: between("Asia/Kolkata", "Europe/Berlin"),
    base_currency: between("USD", "GBP"),
    "reminders.email_enabled": between(true, false),
    "reminders.default_days_before": between(5, 6),
    "reminders.hide_amounts_in_email": between(true, false),
    "category.action": between("create", "archive", { category: { name: "Food" } }),
    "category.name": between("Food", "Transport", { category: { action: "archive" } }),
    "category.new_name": between("Meals", "Dishes", { category: { action: "rename", name: "Food" } }),
    "category.into": between("Transport", "Housing", { category: { action: "merge", name: "Food" } }),
  },
});
