/** The contract of `list_bills`; `app.list_bills` does the work. */
import {
  category,
  cursor,
  id,
  inCurrency,
  integer,
  limit,
  object,
  oneOf,
  query,
} from "../../../../shared/connector/schema.ts";
import { defineTool, READ } from "../../../../shared/connector/tool.ts";
import { answer } from "./answer.ts";

export const listBills = defineTool({
  name: "list_bills",
  annotations: READ,
  inputSchema: object({
    bill_id: id("bill"),
    status: oneOf(["active", "paused", "ended", "cancelled", "all"], { default: "active" }),
    state: oneOf(["overdue", "due", "upcoming", "paid", "amount_missing"]),
    due_within_days: integer({ minimum: 0, maximum: 366, description: "7 = this week, with overdue." }),
    query,
    category: category(),
    has_document: { type: "boolean" },
    in_currency: inCurrency,
    limit,
    cursor,
  }),
  data: {
    bills: "array",
    totals: "object",
    payments: "array",
    price_changes: "array",
    next_dates: "array",
    no_match: "object",
  },
  isList: true,
  answer,
});
