/** The contract of `update_settings`; `app.update_settings` does the work. */
import { currency, integer, object, oneOf, text } from "../../../shared/connector/schema.ts";
import { defineTool, UPDATE } from "../../../shared/connector/tool.ts";

export const updateSettings = defineTool({
  name: "update_settings",
  title: "Update settings",
  annotations: UPDATE,
  description:
    "Owner and organization preferences: timezone, base currency, reminder e-mail on or off, default lead days, categories.",
  inputSchema: object(
    {
      timezone: text(64, { description: "IANA, e.g. Asia/Kolkata." }),
      base_currency: currency("ISO 4217; used for totals from now on."),
      reminders: object({
        email_enabled: { type: "boolean" },
        default_days_before: integer({
          minimum: 0,
          maximum: 90,
          description: "Days before the due date that reminders are sent, for bills that set none.",
        }),
        hide_amounts_in_email: { type: "boolean" },
      }),
      category: object({
        action: oneOf(["create", "rename", "merge", "archive"]),
        name: text(60),
        new_name: text(60),
        into: text(60),
      }, ["action", "name"]),
    },
    [],
    { minProperties: 1 },
  ),
  data: { settings: "object", category: "object" },
});
