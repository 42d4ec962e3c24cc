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
  // Each section of app.review_bills is an array; naming them all would cost tokens in every conversation.
  data: { counts: "object" },
  answer,
});
