/**
 * The contract of `sync_bill_amounts`, the only tool that works outside the database. A first call leases and returns
 * the links that may be fetched now. Then the service queries the providers, and a second call stores their answers.
 */
import { id, list, object } from "../../../../shared/connector/schema.ts";
import { defineTool, UPDATE } from "../../../../shared/connector/tool.ts";
import type { LeasedMonth } from "../../../../shared/db/provider_store.ts";
import { answer } from "./answer.ts";

export const syncBillAmounts = defineTool({
  name: "sync_bill_amounts",
  annotations: { ...UPDATE, openWorldHint: true },
  inputSchema: object({
    bill_ids: list(id("(bill)"), { minItems: 1, maxItems: 20, uniqueItems: true }),
    period: { type: "string", pattern: "^\\d{4}-\\d{2}$" },
  }),
  data: { bills: "array" },
  answer,
  async followUp({ data }, { askProviders, callTool, progress, signal }) {
    const { bills, pending } = (data ?? {}) as { bills: unknown[]; pending?: LeasedMonth[] };
    if (!pending?.length) return undefined;
    const answers = await askProviders(pending, { progress, signal });
    const results = pending
      .map(({ link_id, lease_token, period }, index) => ({ link_id, lease_token, period, answer: answers[index] }))
      .filter(({ answer }) => answer);
    return await callTool("store_bill_amounts", { bills, results });
  },
});
