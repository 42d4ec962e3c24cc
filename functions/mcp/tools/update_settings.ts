/** The contract of `update_settings`; `app.update_settings` does the work. */
import { amount, currency, integer, list, object, oneOf, text } from "../../../shared/connector/schema.ts";
import { defineTool, UPDATE } from "../../../shared/connector/tool.ts";

export const updateSettings = defineTool({
  name: "update_settings",
  annotations: UPDATE,
  inputSchema: object(
    {
      timezone: text(64, { description: "IANA, e.g. Asia/Kolkata." }),
      base_currency: currency("ISO 4217; every payment is valued anew."),
      closed_through: text(7, {
        pattern: "^(\\d{4}-\\d{2})?$",
        description: 'YYYY-MM: nothing paid until then can change; "" reopens all.',
      }),
      reminders: object({
        email_enabled: { type: "boolean" },
        default_days_before: integer({
          minimum: 0,
          maximum: 90,
          description: "Days before the due date that reminders are sent, for bills that set none.",
        }),
        hide_amounts_in_email: { type: "boolean" },
        my_mails: oneOf(["mine", "all", "none"], {
          description: "Of a member: what you are mailed about. mine = bills assigned to you.",
        }),
      }),
      own_only: { type: "boolean", description: "Members see only what they recorded or look after." },
      category: object({
        action: oneOf(["create", "rename", "merge", "archive", "make_private", "make_shared"]),
        name: text(60),
        new_name: text(60),
        into: text(60),
      }, ["action", "name"]),
      budget: object({
        action: oneOf(["set", "remove"]),
        category: text(60, { description: "Omit for all spending." }),
        amount: amount("In the base currency."),
        per: oneOf(["month", "year"], { default: "month" }),
        carry_over: { type: "boolean", description: "What is left, or overspent, moves to the next month or year." },
      }, ["action"]),
      payee_rules: list(
        object({ payee: text(120, { minLength: 1 }), category: text(60) }, ["payee"]),
        {
          maxItems: 50,
          description: '"REWE is Groceries": for expenses given without category. No category: removed.',
        },
      ),
    },
    [],
    { minProperties: 1 },
  ),
  data: { settings: "object", category: "object", budgets: "array", payee_rules: "array", revalued: "object" },
});
