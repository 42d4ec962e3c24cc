/** The contract of `get_context`; `app.get_context` does the work. */
import { defineTool, READ } from "../../../shared/connector/tool.ts";
import { integer, list, object, oneOf } from "../../../shared/connector/schema.ts";

export const getContext = defineTool({
  name: "get_context",
  annotations: READ,
  inputSchema: object({
    include: list(
      oneOf(["categories", "payees", "settings", "recent_changes", "provider_links", "members", "balances"]),
      { uniqueItems: true },
    ),
    changes_limit: integer({ minimum: 1, maximum: 50, default: 10 }),
  }),
  data: { user: "object", role: "string", plan: "object", features: "array" },
});
