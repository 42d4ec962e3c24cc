/**
 * The contract of `sync_bill_amounts`, and the one thing that a tool does outside of the database: between two calls of it, the first of
 * which says what may be fetched now, the second of which keeps what came, the providers are asked.
 */
import { id, list, object } from "../../../shared/connector/schema.ts";
import { defineTool, UPDATE } from "../../../shared/connector/tool.ts";
import type { PendingLink } from "../../../shared/providers/ask.ts";

/** Its lease says that nobody else asks meanwhile. */
interface LeasedLink extends PendingLink {
  lease_token: string;
}

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
  async followUp({ data }, { askProviders }) {
    const { bills, pending } = (data ?? {}) as { bills: unknown[]; pending?: LeasedLink[] };
    if (!pending?.length) return undefined;
    const answers = await askProviders(pending);
    const results = pending.map(({ link_id, lease_token, period }, index) => ({
      link_id,
      lease_token,
      period,
      answer: answers[index],
    }));
    return { tool: "store_bill_amounts", arguments: { bills, results } };
  },
});
