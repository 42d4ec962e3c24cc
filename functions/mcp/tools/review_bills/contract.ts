/** The contract of `review_bills`; `app.review_bills` does the work. */
import { integer, object } from "../../../../shared/connector/schema.ts";
import { defineTool, READ } from "../../../../shared/connector/tool.ts";
import { answer } from "./answer.ts";

export const reviewBills = defineTool({
  name: "review_bills",
  annotations: READ,
  inputSchema: object({
    horizon_days: integer({ minimum: 1, maximum: 366, default: 45 }),
    lookback_months: integer({ minimum: 1, maximum: 24, default: 12 }),
  }),
  data: {
    overdue: "array",
    price_rises: "array",
    unusual_amounts: "array",
    possible_duplicates: "array",
    double_charges: "array",
    trials_ending: "array",
    cancel_by: "array",
    recurring_charges: "array",
    stopped_charges: "array",
    provider_attention: "array",
    counts: "object",
  },
  answer,
});
