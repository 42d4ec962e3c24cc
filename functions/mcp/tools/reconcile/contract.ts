/** The contract of `reconcile`; `app.reconcile` does the work. */
import { date, object, text } from "../../../../shared/connector/schema.ts";
import { defineTool, READ } from "../../../../shared/connector/tool.ts";

export const reconcile = defineTool({
  name: "reconcile",
  annotations: READ,
  inputSchema: object({
    account: text(60, { minLength: 1 }),
    from: date(),
    to: date(),
  }),
  data: {
    account: "string",
    from: "string",
    to: "string",
    bank_only: "array",
    books_only: "array",
    bank_only_count: "integer",
    books_only_count: "integer",
    linked_count: "integer",
    without_document_count: "integer",
    balance: "object",
    balances: "array",
    totals: "object",
  },
});
