/** The contract of `forecast`; `app.forecast` does the work. */
import { amount, date, object, text } from "../../../../shared/connector/schema.ts";
import { defineTool, READ } from "../../../../shared/connector/tool.ts";
import { answer } from "./answer.ts";

export const forecast = defineTool({
  name: "forecast",
  annotations: READ,
  inputSchema: object({
    until: date("Default: end of next month."),
    account: text(60, { minLength: 1 }),
    spend: amount("What if spent too."),
    on: date("Day of spend."),
  }),
  data: {
    until: "string",
    today: "string",
    total: "object",
    accounts: "array",
    days: "array",
    assumptions: "array",
    left_out: "array",
    limit: "object",
  },
  answer,
});
