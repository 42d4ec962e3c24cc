/** Texts in a tool's data: labels, sentences, files. */
import { assertEquals } from "@std/assert";
import { presentData } from "../../../../functions/mcp/present/data.ts";
import type { Json } from "../../../_support/books.ts";
import { en } from "../../../../shared/words/en/mod.ts";
import { assertNothingMissing } from "../../../_support/books.ts";

function presented(tool: string, facts: Json): Json {
  const data = presentData(tool, facts, en);
  assertNothingMissing(data);
  return data;
}

const monthly = { frequency: "monthly", every: 1, anchor_on: "2026-11-05", month_days: [5] };

Deno.test("expenses without a category are Uncategorized everywhere", () => {
  const none = { id: "exp_1" };
  const named = { id: "exp_2", category: "Food" };
  const shown = [{ ...none, category: "Uncategorized" }, named];
  assertEquals(presented("log_expenses", { results: [none, named] }).results, shown);
  assertEquals(presented("list_expenses", { rows: [none, named] }).rows, shown);
  const preview = { rows_bad: [], mapping: { assumed: [] }, sample: [none, named] };
  assertEquals(presented("import_expenses", { preview }).preview.sample, shown);
  assertEquals(presented("list_bills", { bills: [{ ...none, schedule: monthly }] }).bills, [
    { ...shown[0], schedule_text: "every month on the 5th" },
  ]);
  // A change shows only the fields that it touched.
  assertEquals(
    presented("update_expenses", {
      updated: [
        { id: "exp_1", before: {}, after: { category: "Food" } },
        { id: "exp_2", before: { category: "Food", note: "x" }, after: {} },
        { id: "exp_3", before: { note: "x" }, after: {} },
      ],
    }).updated,
    [
      { id: "exp_1", before: { category: "Uncategorized" }, after: { category: "Food" } },
      { id: "exp_2", before: { category: "Food", note: "x" }, after: { category: "Uncategorized" } },
      { id: "exp_3", before: { note: "x" }, after: {} },
    ],
  );
});

Deno.test("a bill has its schedule in words, and the earlier schedule only if it changed", () => {
  const bill = { id: "bill_1", category: "Home", schedule: monthly };
  const shown = { id: "bill_1", category: "Home", schedule_text: "every month on the 5th" };
  assertEquals(presented("add_bill", { status: "created", bill }), { status: "created", bill: shown });
  assertEquals(presented("update_bill", { bill, before: { amount: "1.00" } }), {
    bill: shown,
    before: { amount: "1.00" },
  });
  const weekly = { frequency: "weekly", every: 2, anchor_on: "2026-11-06" };
  assertEquals(presented("update_bill", { bill, before: { schedule: weekly } }).before, {
    schedule_text: "every 2 weeks on Friday",
  });
  // Counted from another date, but the same in words.
  assertEquals(
    presented("update_bill", { bill, before: { schedule: { ...monthly, anchor_on: "2020-01-05" } } }).before,
    {},
  );
});

Deno.test("a provider's statement is shown without its month, which only the sentence contains", () => {
  const question = { due_on: "2026-11-25", amount: "130.00", currency: "EUR" };
  const provider = { name: "City Utility", status: "active", needs_review: { ...question, period: "2026-10" } };
  const { bills: [bill] } = presented("list_bills", { bills: [{ id: "bill_1", schedule: monthly, provider }] });
  assertEquals(bill.provider, { name: "City Utility", status: "active", needs_review: question });
});

Deno.test("a file has a header, negative refunds, and no cell that a spreadsheet would execute", () => {
  const row = { id: "exp_1", kind: "one_off", date: "2026-11-20", name: "=1+1", amount: "5.00", currency: "EUR" };
  const { csv } = presented("list_expenses", {
    csv: [
      row,
      {
        ...row,
        kind: "refund",
        name: 'A "b", c',
        tags: ["x", "y"],
        note: "+49",
        url: "https://shop.example/1",
        category: "＝Food",
        tax: "0.80",
        base_amount: "5.50",
      },
    ],
  });
  assertEquals(csv.split("\r\n"), [
    "id,kind,date,name,payee,category,tags,note,url,amount,currency,tax,tax_percent,reimbursement,reimbursed_by,reimbursed_on,split_id,base_amount,bill_id,is_estimate,paid_by",
    "exp_1,one_off,2026-11-20,'=1+1,,Uncategorized,,,,5.00,EUR,,,,,,,,,,",
    `exp_1,refund,2026-11-20,"A ""b"", c",,'＝Food,x; y,'+49,https://shop.example/1,-5.00,EUR,-0.80,,,,,,-5.50,,,`,
    "",
  ]);
});

Deno.test("groups without a name get one", () => {
  const row = (...group: Json[]) => ({ group, amount: "1.00" });
  const { rows, fx } = presented("summarize_spending", {
    rows: [
      row("Food", { none: "tag" }),
      row({ none: "category" }, { none: "rest" }),
      row({ none: "payee" }),
      row({ none: "member" }),
      row({ none: "former_member" }),
    ],
    total: { amount: "5.00", currency: "EUR", count: 5 },
    fx: { sources: ["ecb"] },
  });
  assertEquals(rows.map(({ group }: Json) => group), [
    ["Food", "Untagged"],
    ["Uncategorized", "Other"],
    ["No payee"],
    ["Automatic"],
    ["Former member"],
  ]);
  assertEquals(fx, {
    rule:
      "Each payment is converted by what the bank charged, else at the rate of its day, or the latest before it, at most 7 days old; source snapshot: at the rates of as_of, which came with the service.",
    sources: ["ecb"],
  });
});

Deno.test("a payment with several tags counts fully under each", () => {
  const row = (tag: string) => ({ group: [tag], amount: "100.00", count: 1 });
  const { rows } = presented("summarize_spending", {
    rows: [row("trip"), row("work")],
    total: { amount: "100.00", currency: "EUR", count: 1 },
    fx: {},
  });
  assertEquals(rows.map(({ share_percent }: Json) => share_percent), [100, 100]);
});

Deno.test("get_context names the author of a change, even an automatic or former one", () => {
  const change = (tool: string, facts: Json, by?: string) => ({ change_id: "chg_1", tool, facts, ...(by && { by }) });
  const { recent_changes } = presented("get_context", {
    recent_changes: [
      change("unsubscribe", { name: "Rent" }, "a@example.com"),
      change("delete_records", { count: 1, names: ["Tea"] }),
      change("autopay", { name: "Rent", due_on: "2026-12-01", amount: "5.00", currency: "EUR" }),
    ],
  });
  assertEquals(recent_changes.map(({ by, summary }: Json) => [by, summary]), [
    ["a@example.com", "Turned off reminders for Rent"],
    ["a former member", "Deleted Tea"],
    ["automatic", "Rent paid automatically on 2026-12-01: 5.00 EUR"],
  ]);
  assertEquals(presented("get_context", { user: {} }), { user: {} });
});

Deno.test("undo_change names each item", () => {
  const subjects = {
    category: { kind: "category", name: "Food" },
    budget: { kind: "budget", category: "Food", per: "month" },
    payee_rule: { kind: "payee_rule", name: "Kiosk" },
    document: { kind: "document", name: "a.pdf" },
    settings: { kind: "settings" },
    date: { kind: "date", name: "Rent", due_on: "2026-12-01" },
    payment: { kind: "payment", name: "Rent", amount: "5.00", currency: "EUR" },
    balance: { kind: "balance", name: "Giro", amount: "5.00", currency: "EUR" },
    income: { kind: "income", name: "Salary", amount: "5.00", currency: "EUR" },
    connection: { kind: "connection", name: "github" },
    expense: { kind: "expense", name: "Lunch" },
    statement: { kind: "statement", name: "Giro" },
    settlement: { kind: "settlement", amount: "5.00", currency: "EUR" },
  } satisfies { [Kind in Parameters<typeof en.subject>[0]["kind"]]: { kind: Kind } & Json };
  const change = { tool: "unsubscribe", facts: { name: "Rent" } };
  const data = presented("undo_change", {
    undone: { change_id: "chg_1", change },
    reversed: [
      { id: "1", subject: subjects.expense, verb: "removed" },
      { id: "2", subject: subjects.payment, verb: "restored" },
      { id: "3", subject: subjects.date, verb: "open" },
      { id: "4", subject: subjects.settings, fields: ["base_currency", "timezone"] },
      // No named field changed, only its conversion rate.
      { id: "5", subject: subjects.expense },
      { id: "8", subject: subjects.budget, fields: ["amount"] },
      { id: "9", subject: subjects.settlement, verb: "removed" },
    ],
    not_reversible: [
      { id: "6", why: "connection_ended", subject: subjects.connection },
      { id: "7", why: "in_use", subject: subjects.category },
      { id: "10", why: "lines_gone", subject: subjects.statement },
    ],
  });
  assertEquals(data, {
    undone: { change_id: "chg_1", by: "a former member", summary: "Turned off reminders for Rent" },
    reversed: [
      { id: "1", what: "Lunch removed" },
      { id: "2", what: "Payment of 5.00 EUR for Rent restored" },
      { id: "3", what: "Rent due 2026-12-01 is open again" },
      { id: "4", what: "Settings: main currency, time zone changed back" },
      { id: "5", what: "Lunch changed back" },
      { id: "8", what: "The monthly budget for Food: amount changed back" },
      { id: "9", what: "Settlement of 5.00 EUR removed" },
    ],
    not_reversible: [
      { id: "6", what: "The connection to github was not restored: connect it again" },
      { id: "7", what: "Category Food stays: other expenses use it" },
      { id: "10", what: "The statement of Giro was not restored: import the file again before you reconcile" },
    ],
  });
});
