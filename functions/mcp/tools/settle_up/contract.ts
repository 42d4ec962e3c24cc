/** The contract of `settle_up`; `app.settle_up` does the work. */
import {
  amount,
  currency,
  date,
  dryRun,
  idempotencyKey,
  note,
  object,
  onDuplicate,
  text,
} from "../../../../shared/connector/schema.ts";
import { CREATE, defineTool } from "../../../../shared/connector/tool.ts";
import { answer } from "./answer.ts";

export const settleUp = defineTool({
  name: "settle_up",
  annotations: CREATE,
  inputSchema: object({
    from: text(254, { description: "Default me." }),
    to: text(254, { description: "Default me." }),
    amount: amount("Default: the whole balance."),
    currency: currency(),
    date: date(undefined, { default: "today" }),
    note,
    on_duplicate: onDuplicate,
    dry_run: dryRun,
    idempotency_key: idempotencyKey,
  }),
  data: { settlement: "object", balances: "array" },
  answer,
});
