/**
 * The contract of `sync_bill_amounts`, and the one thing that a tool does outside of the database: between two calls of it, the first of
 * which says what may be fetched now, the second of which keeps what came, the providers are asked.
 */
import { id, list, object } from "../../../shared/connector/schema.ts";
import { defineTool, UPDATE } from "../../../shared/connector/tool.ts";
import { fetchStatements, type PendingLink } from "../../../shared/providers/fetch_statements.ts";

export const syncBillAmounts = defineTool({
  name: "sync_bill_amounts",
  title: "Fetch bill amounts",
  annotations: { ...UPDATE, openWorldHint: true },
  description:
    "Fetch this month's amount of connected variable bills from their providers now. At most once per bill per hour.",
  inputSchema: object({
    bill_ids: list(id("(bill)"), { minItems: 1, maxItems: 20, uniqueItems: true }),
    period: { type: "string", pattern: "^\\d{4}-\\d{2}$", description: "Default: current month." },
  }),
  data: { bills: "array" },
  async followUp({ data }) {
    const { bills, pending } = (data ?? {}) as { bills: unknown[]; pending?: PendingLink[] };
    if (!pending?.length) return undefined;
    return { tool: "store_bill_amounts", arguments: { bills, results: await fetchStatements(pending, new Map()) } };
  },
});
