/** The contract of `decide_proposal`; `app.decide_proposal` and `app.settle_proposal` do the work. */
import { id, object, oneOf, text } from "../../../../shared/connector/schema.ts";
import { defineTool, UPDATE } from "../../../../shared/connector/tool.ts";

export const decideProposal = defineTool({
  name: "decide_proposal",
  annotations: UPDATE,
  inputSchema: object({
    proposal_id: id("prop"),
    hash: text(64),
    decision: oneOf(["approve", "refuse", "withdraw"]),
  }, ["proposal_id", "hash", "decision"]),
  // A proposal may publish an import of many rows.
  isLong: () => true,
  data: { proposal_id: "string", state: "string", written: "object" },
});
