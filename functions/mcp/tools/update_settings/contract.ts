/** The contract of `update_settings`; `app.update_settings` does the work. */
import { amount, currency, integer, list, object, oneOf, text } from "../../../../shared/connector/schema.ts";
import { defineTool, UPDATE } from "../../../../shared/connector/tool.ts";

export const updateSettings = defineTool({
  name: "update_settings",
  annotations: UPDATE,
  inputSchema: object(
    {
      timezone: text(64),
      base_currency: currency("Revalues payments."),
      closed_through: text(7, {
        pattern: "^((\\d{4}|-)-\\d{2})?$",
        description: 'YYYY-MM; "" reopens.',
      }),
      low_balance_limit: text(17, { description: '"": off.' }),
      reminders: object({
        email_enabled: { type: "boolean" },
        default_days_before: integer({
          minimum: 0,
          maximum: 90,
        }),
        hide_amounts_in_email: { type: "boolean" },
        my_mails: oneOf(["mine", "all", "none"], {
          description: "mine: assigned to you.",
        }),
      }),
      relabel_closed: { type: "boolean", description: "Notes, tags, categories." },
      own_only: { type: "boolean", description: "Members see their own." },
      category: object({
        action: oneOf(["create", "rename", "merge", "archive", "make_private", "make_shared"]),
        name: text(60),
        new_name: text(60),
        into: text(60),
      }, ["action", "name"]),
      budget: object({
        action: oneOf(["set", "remove"]),
        category: text(60, { description: "Omit: all spending." }),
        amount: amount(),
        per: oneOf(["month", "year"], { default: "month" }),
        carry_over: { type: "boolean" },
      }, ["action"]),
      payee_rules: list(
        object({ payee: text(120, { minLength: 1 }), category: text(60), no_bill: { type: "boolean" } }, ["payee"]),
        {
          maxItems: 50,
          description: "No category: removed.",
        },
      ),
      forget_layouts: list(text(80), {
        maxItems: 50,
        description: "Layouts, by id; [] lists.",
      }),
    },
    [],
    { minProperties: 1 },
  ),
  data: {
    layouts: "array",
    settings: "object",
    category: "object",
    budgets: "array",
    payee_rules: "array",
    revalued: "object",
  },
});
