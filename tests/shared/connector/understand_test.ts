import { assertEquals } from "@std/assert";
import { importExpenses } from "../../../functions/mcp/tools/import_expenses/contract.ts";
import { logExpenses } from "../../../functions/mcp/tools/log_expenses/contract.ts";
import { listBills } from "../../../functions/mcp/tools/list_bills/contract.ts";
import { summarizeSpending } from "../../../functions/mcp/tools/summarize_spending/contract.ts";
import { updateBill } from "../../../functions/mcp/tools/update_bill/contract.ts";
import { updateExpenses } from "../../../functions/mcp/tools/update_expenses/contract.ts";
import { readYearlessDay } from "../../../shared/import/date_text.ts";
import type { Tool } from "../../../shared/connector/tool.ts";

type Fields = Record<string, unknown>;

/** The arguments for a tool's SQL function, without defaults; false when the call is refused. */
function read(tool: Tool, input: Fields): Fields | false {
  const parsed = tool.parse(input);
  if (!parsed.ok) return false;
  const presets = Object.entries(tool.listed.inputSchema.properties!).filter(([, field]) => "default" in field);
  const rest = { ...parsed.value };
  for (const [name, field] of presets) if (rest[name] === field.default) delete rest[name];
  return rest;
}

const item = (more: Fields) => {
  const value = read(logExpenses, { items: [{ name: "Lunch", amount: "1", date: "2026-10-01", ...more }] });
  if (!value) return false;
  const { name: _, is_refund, ...fields } = (value.items as Fields[])[0]!;
  return is_refund ? { ...fields, is_refund } : fields;
};
const PLAIN = { amount: "1", date: "2026-10-01" };

Deno.test("understand() reads a negative balance as an overdraft, and an expense or refund from its kind", () => {
  for (
    const [sent, fields] of [
      [{ kind: "balance", amount: "-14,50" }, { kind: "overdraft", amount: "14.5" }],
      [{ kind: "balance", amount: "14.50" }, { kind: "balance", amount: "14.50" }],
      [{ kind: "overdraft", amount: "-1" }, false],
      [{ kind: "expense" }, {}],
      [{ kind: "refund" }, { is_refund: true }],
      [{ kind: "credit" }, false],
    ] as const
  ) assertEquals(item(sent), fields && { ...PLAIN, ...fields }, JSON.stringify(sent));
});

Deno.test("understand() reads amounts with a single meaning, and their currency when the call has none", () => {
  for (
    const [sent, fields] of [
      [{ amount: "14,50" }, { amount: "14.5" }],
      [{ amount: 1450 }, { amount: "1450" }],
      [{ amount: 14.5 }, { amount: "14.5" }],
      [{ amount: "€1.234,56" }, { amount: "1234.56", currency: "EUR" }],
      [{ amount: "14.50 usd" }, { amount: "14.5", currency: "USD" }],
      [{ amount: "14.50 USD", currency: "usd" }, { amount: "14.5", currency: "USD" }],
      [{ amount: "14.50 USD", currency: null }, { amount: "14.5", currency: "USD" }],
    ] as [Fields, Fields][]
  ) assertEquals(item(sent), { ...PLAIN, ...fields }, JSON.stringify(sent));
  for (const amount of ["1,234", "$5", "-5", -5, 1e-7, 1e300, [], {}, true, "1".repeat(1000)]) {
    assertEquals(item({ amount }), false, String(amount));
  }
  // A contradictory call leads to a question.
  assertEquals(item({ amount: "5 EUR", currency: "USD" }), false);
});

Deno.test("understand() reads days with a single meaning", () => {
  for (
    const [date, day] of [
      ["Today", "today"],
      ["1 Nov 2026", "2026-11-01"],
      ["November 1st, 2026", "2026-11-01"],
      ["05.10.2026", "2026-10-05"],
      ["25/10/2026", "2026-10-25"],
      ["10/25/2026", "2026-10-25"],
      ["04/04/2026", "2026-04-04"],
      ["2026-10-05T12:30:00", "2026-10-05"],
      ["2026-10-05T00:00:00Z", "2026-10-05"],
      ["5 Oct", "--10-05"],
    ]
  ) assertEquals(item({ date }), { ...PLAIN, date: day }, date);
  // Two digits may be a year or a day.
  for (const date of ["03/04/2026", "05.10.26", "31 Feb 2026", "32 Oct", "soon"]) {
    assertEquals(item({ date }), false, date);
  }
});

Deno.test("readYearlessDay() reads a day and a month in words, whichever comes first", () => {
  for (const text of ["1 Nov", "1st of November", "Nov 1", "November 1st", "1. novembre", "1 de nov"]) {
    assertEquals(readYearlessDay(text), "--11-01", text);
  }
  for (const text of ["Nov", "1", "Nov 2026", "30 Feb", "0 Nov", "11/01", "9".repeat(100)]) {
    assertEquals(readYearlessDay(text), undefined, text);
  }
});

Deno.test("understand() treats null and empty text as absent, unless a change can empty the field", () => {
  assertEquals(item({ payee: null, currency: "", tags: null, url: "", external_id: null }), PLAIN);
  assertEquals(read(summarizeSpending, { from: "", to: null, group_by: null, categories: "" }), {
    group_by: ["category"],
  });
  assertEquals(item({ name: null }), false);
  assertEquals(read(updateExpenses, { ids: ["exp_12345678"], set: { payee: null } }), false);
  assertEquals(read(updateExpenses, { ids: ["exp_12345678"], set: { payee: "" } }), {
    ids: ["exp_12345678"],
    set: { payee: "" },
  });
});

Deno.test("understand() accepts a value for a list, a list of one for a value, and singular or plural names", () => {
  const grouped = { group_by: ["category"] };
  assertEquals(read(summarizeSpending, { group_by: "category" }), grouped);
  assertEquals(read(summarizeSpending, { groupBy: "Category, Month" }), { group_by: ["category", "month"] });
  assertEquals(read(summarizeSpending, { category: "Food, fast", tag: ["x"], period: "Last month" }), {
    ...grouped,
    categories: ["Food, fast"],
    tags: ["x"],
    period: "last_month",
  });
  assertEquals(read(listBills, { categories: ["Food"] }), { category: "Food" });
  assertEquals(read(listBills, { categories: ["Food", "Travel"] }), false);
  // The tool drops neither text.
  assertEquals(read(summarizeSpending, { category: "Food", categories: ["Travel"] }), false);
  assertEquals(read(summarizeSpending, { category: "Food", Category: "Travel" }), false);
  assertEquals(read(updateExpenses, { id: "exp_12345678", set: { name: "x" } }), {
    ids: ["exp_12345678"],
    set: { name: "x" },
  });
  const provider = { action: "Connect", provider: "Digital Ocean" };
  assertEquals(read(updateBill, { bill_id: "bill_12345678", provider }), {
    bill_id: "bill_12345678",
    provider: { action: "connect", provider: "digitalocean" },
  });
});

Deno.test("understand() reads true, false and numbers sent as text, and leaves the rest for the validator to refuse", () => {
  assertEquals(item({ is_refund: "true" }), { ...PLAIN, is_refund: true });
  assertEquals(read(listBills, { due_within_days: "7" }), { due_within_days: 7 });
  assertEquals(item({ is_refund: "yes" }), { ...PLAIN, is_refund: true });
  for (const is_refund of ["", "perhaps", 2]) assertEquals(item({ is_refund }), false, String(is_refund));
  assertEquals(read(listBills, { due_within_days: "seven" }), false);
  assertEquals(read(summarizeSpending, { __proto__2: 1, constructor: 2 }), false);
});

Deno.test("understand() reads the pairs of a listed map as that map, and refuses a repeated key", () => {
  const commit = { import_id: "imp_12345678", expected_count: 1 };
  for (
    const [sent, meant] of [
      [{ EUR: "5.00" }, { EUR: "5.00" }],
      [[{ currency: "EUR", amount: "5.00" }], { EUR: "5.00" }],
      [[{ currency: "EUR", amount: "5.00" }, { currency: "EUR", amount: "6.00" }], undefined],
      [[{ amount: "5.00" }], undefined],
      [["EUR"], undefined],
    ]
  ) {
    const parsed = read(importExpenses, { ...commit, expected_totals: sent });
    assertEquals(parsed ? parsed.expected_totals : undefined, meant);
  }
  const answers = read(importExpenses, {
    import_id: "imp_12345678",
    answers: [{ question: "row_12", answer: "same" }, { question: "negative_is_expense", answer: "true" }],
  });
  assertEquals(answers && answers.answers, { row_12: "same", negative_is_expense: true });
});
