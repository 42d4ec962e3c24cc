/**
 * The contract of `sync_bill_amounts`, the only tool that does something outside the database: a first call returns
 * what may be fetched now, the providers are queried, and a second call stores the answers.
 */
import { id, list, object } from "../../../shared/connector/schema.ts";
import { defineTool, UPDATE } from "../../../shared/connector/tool.ts";
import type { PendingLink } from "../../../shared/providers/ask.ts";

/** The lease keeps others from querying the provider meanwhile. */
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
