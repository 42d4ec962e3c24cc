/** The contract of `get_context`; `app.get_context` does the work. */
import { defineTool, READ } from "../../../../shared/connector/tool.ts";
import { date, integer, list, object, oneOf, text } from "../../../../shared/connector/schema.ts";
import { answer } from "./answer.ts";

export const getContext = defineTool({
  name: "get_context",
  annotations: READ,
  inputSchema: object({
    include: list(
      oneOf(["categories", "payees", "settings", "recent_changes", "provider_links", "members", "balances", "budgets"]),
      { uniqueItems: true },
    ),
    changes: object(
      {
        from: date(),
        to: date(),
        member: text(254),
        client: text(60, { description: '"other": not this one.' }),
        record: text(120, { description: "Id or name." }),
        limit: integer({ minimum: 1, maximum: 50, default: 10 }),
      },
    ),
    changes_limit: integer({ minimum: 1, maximum: 50 }),
  }),
  data: { user: "object", role: "string", plan: "object", features: "array" },
  answer,
});
