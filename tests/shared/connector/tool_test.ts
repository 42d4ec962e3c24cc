import { assertEquals } from "@std/assert";
import { presentError } from "../../../functions/mcp/present/error.ts";
import { addBill } from "../../../functions/mcp/tools/add_bill/contract.ts";
import { deleteRecords } from "../../../functions/mcp/tools/delete_records/contract.ts";
import { forecast } from "../../../functions/mcp/tools/forecast/contract.ts";
import { getContext } from "../../../functions/mcp/tools/get_context/contract.ts";
import { logExpenses } from "../../../functions/mcp/tools/log_expenses/contract.ts";
import { summarizeSpending } from "../../../functions/mcp/tools/summarize_spending/contract.ts";
import { updateExpenses } from "../../../functions/mcp/tools/update_expenses/contract.ts";
import { updateBill } from "../../../functions/mcp/tools/update_bill/contract.ts";
import type { Tool } from "../../../shared/connector/tool.ts";
import { en } from "../../../shared/words/en/mod.ts";

function errorOf(tool: Tool, input: unknown) {
  const parsed = tool.parse(input);
  if (parsed.ok) throw new Error(`accepted ${JSON.stringify(input)}`);
  const { field, message, hint } = presentError(parsed.error, en);
  return [field, message, hint];
}

const item = (more: Record<string, unknown>) => ({ items: [{ name: "Lunch", amount: "14.50", ...more }] });

Deno.test("parse() names the field, the problem and the expected value", () => {
  const cases: [Tool, unknown, [field: string | undefined, message: string, hint?: string]][] = [
    [logExpenses, {}, ["items", "items is required."]],
    [logExpenses, { items: [] }, ["items", "items must have at least 1 item."]],
    [logExpenses, item({ amount: "-5" }), [
      "items[0].amount",
      "items[0].amount has the wrong format.",
      'If a seller paid it back, send "5" with is_refund true. Log income, such as a salary, with log_expenses and kind "income".',
    ]],
    [logExpenses, item({ amount: "€1.234,56", currency: "USD" }), [
      "items[0].amount",
      "items[0].amount has the wrong format.",
      'Write it as "1234.56": a point for decimals, nothing for thousands. The currency goes into the field currency.',
    ]],
    [forecast, { spend: "900 EUR" }, [
      "spend",
      "spend has the wrong format.",
      'Write it as "900": a point for decimals, nothing for thousands. Leave the currency out.',
    ]],
    [summarizeSpending, { kind: "savings" }, [
      "kind",
      "kind must be one of: one_off, bill_payment, refund, income, net.",
      "Transfers between own accounts are not spending; reconcile has the totals of an account.",
    ]],
    [updateExpenses, { filter: { kind: "income" }, set: { category: "Pay" } }, [
      "filter.kind",
      "filter.kind must be one of: one_off, bill_payment, refund.",
      "Change income by its ids: list_expenses with kind income finds them.",
    ]],
    [logExpenses, item({ amount: "1,234" }), [
      "items[0].amount",
      "items[0].amount has the wrong format.",
      'Ask whether "1234" or "1.234" is meant: a point for decimals, and nothing for thousands.',
    ]],
    [logExpenses, item({ amount: "much" }), [
      "items[0].amount",
      "items[0].amount has the wrong format.",
      'A positive decimal in major units, as a string: "14.50".',
    ]],
    [addBill, { name: "Rent", amount: "-5" }, [
      "amount",
      "amount has the wrong format.",
      'Write it as "5": a point for decimals, nothing for thousands. An amount is never negative here.',
    ]],
    [deleteRecords, { ids: ["pay_2pw4nx1fdn72"] }, [
      "ids[0]",
      "ids[0] has the wrong format.",
      "This is the payment of a bill. mark_bill_paid with its due_on corrects its amount, date, payer or note; update_bill " +
      '(occurrence action "reopen") removes it. Its category is that of the bill. ' +
      "Ids start with exp_ or bill_ or inc_; take them from an earlier answer.",
    ]],
    [updateExpenses, { ids: ["bill_2pw4nx1fdn72"], set: { note: "x" } }, [
      "ids[0]",
      "ids[0] has the wrong format.",
      "This is a bill: see update_bill, and delete_records for one bill at a time. Ids start with exp_ or inc_; take them from an earlier answer.",
    ]],
    [logExpenses, item({ date: "last week" }), [
      "items[0].date",
      "items[0].date has the wrong format.",
      "YYYY-MM-DD, or today, yesterday or tomorrow.",
    ]],
    [logExpenses, item({ date: "03/04/2026" }), [
      "items[0].date",
      "items[0].date has the wrong format.",
      'Ask which day is meant, and write it as "2026-04-03" or "2026-03-04".',
    ]],
    [logExpenses, item({ currency: "$" }), [
      "items[0].currency",
      "items[0].currency has the wrong format.",
      "A three-letter ISO 4217 code in capitals: EUR.",
    ]],
    [logExpenses, item({ name: null }), [
      "items[0].name",
      "items[0].name must not be null.",
      "Leave out fields that have no value.",
    ]],
    // In a change, null could clear the field or keep it.
    [updateExpenses, { ids: ["exp_12345678"], set: { payee: null } }, [
      "set.payee",
      "set.payee must not be null.",
      'Leave the field out to keep its value, or send "" to clear it.',
    ]],
    [updateExpenses, { ids: ["exp_12345678"], set: { tags: null } }, [
      "set.tags",
      "set.tags must not be null.",
      "Leave the field out to keep its value, or send [] to clear it.",
    ]],
    [updateExpenses, { ids: ["exp_12345678"], set: { date: null } }, [
      "set.date",
      "set.date must not be null.",
      "Leave out fields that have no value.",
    ]],
    [updateBill, { bill_id: "bill_12345678", provider: { action: "connect", provider: "aws" } }, [
      "provider.provider",
      "provider.provider must be one of: openai, anthropic, digitalocean, github, vercel, http_json.",
      "http_json: any JSON address.",
    ]],
    [logExpenses, item({ payee: "x".repeat(121) }), [
      "items[0].payee",
      "items[0].payee must have at most 120 characters.",
    ]],
    [logExpenses, { ...item({}), on_duplicate: "maybe" }, [
      "on_duplicate",
      "on_duplicate must be one of: skip, allow.",
    ]],
    [logExpenses, { ...item({}), organization: "org_other" }, [
      "organization",
      'Unknown argument "organization".',
      "Known fields: items, on_duplicate, create_missing_categories, dry_run, idempotency_key.",
    ]],
    [getContext, { include: ["members", "members"] }, ["include[1]", "include[1] is a duplicate."]],
    [getContext, { changes_limit: 51 }, ["changes_limit", "changes_limit must be at most 50."]],
    [getContext, { changes_limit: "five" }, ["changes_limit", "changes_limit must be an integer."]],
    [getContext, [], [undefined, "The arguments must be an object."]],
    [addBill, { name: "Rent", month_days: [0] }, [
      "month_days[0]",
      `month_days[0] must be one of: -1, ${Array.from({ length: 31 }, (_, index) => index + 1).join(", ")}.`,
    ]],
    [addBill, { name: "Rent", my_share_percent: 0 }, ["my_share_percent", "my_share_percent must be more than 0."]],
    [updateExpenses, { ids: ["exp_12345678"], set: {} }, ["set", "set must have at least 1 field."]],
    // A name that every object inherits.
    [deleteRecords, { ids: ["constructor_12345678"] }, [
      "ids[0]",
      "ids[0] has the wrong format.",
      "Ids start with exp_ or bill_ or inc_; take them from an earlier answer.",
    ]],
    [deleteRecords, { ids: ["chg_12345678"] }, [
      "ids[0]",
      "ids[0] has the wrong format.",
      "Ids start with exp_ or bill_ or inc_; take them from an earlier answer.",
    ]],
  ];
  for (const [tool, input, [field, message, hint]] of cases) assertEquals(errorOf(tool, input), [field, message, hint]);
});

Deno.test("parse() reports every problem of a call at once", () => {
  const parsed = logExpenses.parse({ items: [{ amount: [] }], dry_run: "perhaps" });
  assertEquals(
    !parsed.ok && presentError(parsed.error, en).details,
    {
      problems: [
        {
          message: "items[0].name is required.",
          field: "items[0].name",
          hint: 'E.g. "Lunch".',
        },
        {
          message: "items[0].amount must be a string.",
          field: "items[0].amount",
          hint: 'A positive decimal in major units, as a string: "14.50".',
        },
        {
          message: "dry_run must be a boolean.",
          field: "dry_run",
        },
      ],
    },
  );
});

Deno.test("parse() fills in defaults, but not in changes", () => {
  assertEquals(updateExpenses.parse({ ids: ["exp_12345678"], set: { payee: "Bakery" } }), {
    ok: true,
    value: { ids: ["exp_12345678"], set: { payee: "Bakery" }, dry_run: false },
  });
  assertEquals(getContext.parse(undefined), { ok: true, value: {} });
});

Deno.test("parse() refuses endless nesting instead of traversing it", () => {
  let deep: unknown = "x";
  for (let depth = 0; depth < 100_000; depth++) deep = [deep];
  assertEquals(errorOf(getContext, { include: deep })[0], "include[0]");
});
